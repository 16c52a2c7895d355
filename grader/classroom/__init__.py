"""nbgrader for this course: release, autograding by the judge, feedback, and a class to try it on."""

FAILED = "the judge failed: "
"""How the flag begins that tells an instructor of a fault of the grader's own."""

UNSETTLED = (FAILED, "judge: ", "not run")
"""How the flags begin after which a submission is judged again the next time, changed or not."""
