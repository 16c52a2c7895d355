missing = {
    "version": Loss(
        consequence="format-unknown",
        prediction="misread",
        why="没有版本号，文件里就没有任何东西说明它是哪一种格式。读取方既不能拒绝不认识的格式，也不能先迁移，只能碰运气去解析。",
    ),
    "task": Loss(
        consequence="task-unknown",
        prediction="unnamed-finishes",
        why="宿主不知道这份存档属于用户的哪一个任务，因此没法向用户报告正在恢复的是哪一个。",
    ),
    "turns": Loss(
        consequence="stop-late",
        prediction=19,
        why="恢复之后计数器从零开始，最大轮数的停止条件触发得太晚：崩溃前 7 轮，恢复后又跑满 12 轮，一共 19 轮。",
    ),
    "tokensUsed": Loss(
        consequence="compaction-late",
        prediction=10,
        why="累计值从零重来，而以前每次调用的用量没有存在别处，补算不出来。压缩阈值是和一个偏小的累计值比较的，所以压缩来得太晚。",
    ),
    "pendingToolUse": Loss(
        consequence="call-repeated",
        prediction=6,
        why="恢复时不知道有一次调用正在进行，没法对账，不知道它到底执行了没有；于是丢掉这次调用再问一遍模型，已经寄出的邮件又寄了一次。",
    ),
}
