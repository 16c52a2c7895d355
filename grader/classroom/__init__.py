"""nbgrader for this course: release, autograding by the judge, feedback, and a class to try it on."""
