"""How nbgrader works on this course. Run nbgrader in this folder: it reads its configuration nowhere else."""

import contextlib
import os
import shutil
import sysconfig
from pathlib import Path

from nbgrader import preprocessors as stock

from grader.classroom.feedback import FeedbackGrades, FeedbackPage
from grader.classroom.judging import JudgeCriteria
from grader.classroom.records import SaveGrades
from grader.classroom.release import StartingPoint
from grader.classroom.submission import RestoreCells, SubmissionReader

c = get_config()  # noqa: F821 (given by the loader of this file)
root = Path(__file__).resolve().parent

c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "classroom/submitted"
c.CourseDirectory.autograded_directory = "classroom/autograded"
c.CourseDirectory.feedback_directory = "classroom/feedback"
c.CourseDirectory.db_url = f"sqlite:///{root / 'classroom' / 'gradebook.db'}"
with contextlib.suppress(OSError):  # SQLite makes the file, not its folder
    (root / "classroom").mkdir(exist_ok=True)

# nbgrader starts `alembic` by name, which fails when the virtual environment is used without being activated.
if shutil.which("alembic") is None:
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

# nbgrader copies what lies beside a notebook. Text sources and notes would carry the solution into the
# release, and a learner's own files must not lie beside the course's. So nothing travels but notebooks,
# timestamp.txt, and the submission_secret.txt of nbgrader's exchange, which ignores what is listed here too.
c.CourseDirectory.ignore = [
    ".*",
    "__pycache__",
    "*.[!it]*",
    "*.i[!p]*",
    "*.ip[!y]*",
    "*.ipy[!n]*",
    "*.ipy",
    "*.t[!x]*",
    "*.tx[!t]*",
    "*.txt?*",
    "[!st]*.txt",
    "s[!u]*.txt",
    "t[!i]*.txt",
    "[nN][oO][tT][eE]*",
    "README*",
    "solution*",
    "grader",
    "minagent",
    "feedback",
]

c.GenerateAssignment.preprocessors = [
    stock.IncludeHeaderFooter,
    stock.LockCells,
    StartingPoint,
    stock.ClearOutput,
    stock.CheckCellMetadata,
    stock.ComputeChecksums,
    stock.SaveCells,
    stock.ClearHiddenTests,
    stock.ClearMarkScheme,
    stock.ComputeChecksums,
    stock.CheckCellMetadata,
]

# The judge takes the place of a kernel: a learner's code never runs in the grading process.
c.Autograde.exporter_class = SubmissionReader
c.Autograde.sanitize_preprocessors = [
    RestoreCells,
    stock.OverwriteKernelspec,
    stock.OverwriteCells,
    stock.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    JudgeCriteria,
    stock.LimitOutput,
    SaveGrades,
    stock.AssignLatePenalties,
    stock.CheckCellMetadata,
]

# Our own page: no hidden test, no script of a learner's, nothing fetched.
c.GenerateFeedback.exporter_class = FeedbackPage
c.GenerateFeedback.preprocessors = [FeedbackGrades]
