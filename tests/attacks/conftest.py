"""The attacked class, graded once in each way, however many processes run the tests."""

import os
import pickle

import pytest
from attack import CANARY
from attacked_class import WAYS, Graded, graded_by


@pytest.fixture(scope="session", params=WAYS)
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The whole class, graded in one go in one of the ways."""
    way = request.param
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / f"attacked by {way}.lock").open("w") as lock:
        try:
            import fcntl
        except ImportError:  # Windows: each process grades for itself
            shared = own
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        made = shared / f"attacked by {way}.pickle"
        if not made.exists():
            folder = shared / f"attacked by {way}"
            folder.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("INSTRUCTORS_SECRET", CANARY)
                made.write_bytes(pickle.dumps(graded_by(way, folder)))
        found: Graded = pickle.loads(made.read_bytes())
        return found
