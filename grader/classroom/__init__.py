"""nbgrader for this course: release, autograding by the judge, feedback, and a class to try it on."""

import sys
from typing import Any, cast

# jsonschema builds a parser for URIs when it is first imported, which takes a second and more and which no
# notebook's schema asks for. Without the module it leaves that one format unchecked. Here, because nbformat and
# nbgrader import jsonschema, and every module of this room comes after this file.
if "jsonschema" not in sys.modules:
    sys.modules.setdefault("rfc3987_syntax", cast(Any, None))

FAILED = "the judge failed: "
"""How the flag begins that tells an instructor of a fault of the grader's own."""

UNSETTLED = (FAILED, "judge: ", "not run")
"""How the flags begin after which a submission is judged again the next time, changed or not."""
