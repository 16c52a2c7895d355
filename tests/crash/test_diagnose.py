"""The diagnosis held against the library of saves: none without a reason, no right one accused."""

from __future__ import annotations

from typing import Any

import pytest
from saves import SAVES, Save, state

from grader.crash import explore
from grader.crash.crashmap import as_html
from grader.crash.diagnose import diagnose
from grader.crash.explore import Exploration
from grader.crash.report import as_text, width_of

KINDS = {
    "overwrite": {"in_place"},
    "writev_in_place": {"in_place"},
    "bak_then_in_place": {"in_place"},
    "hard_link_then_in_place": {"in_place"},
    "copy_temp_over": {"copied_over"},
    "move_from_system_temp": {"copied_over", "residue"},
    "in_place_by_fileinput": {"moved_away", "not_fsynced_at_all", "directory_not_fsynced", "residue"},
    "append_a_line": {"appended"},
    "temp_and_replace": {"not_fsynced", "directory_not_fsynced"},
    "temp_fsync_replace": {"directory_not_fsynced"},
    "fsync_without_flush": {"fsync_before_write"},
    "fsync_after_replace": {"fsync_late"},
    "directory_fsync_before_replace": {"directory_fsync_early"},
    "replace_before_close": {"renamed_early", "directory_not_fsynced"},
    "unlink_and_rename": {"unlinked"},
    "mkstemp_and_replace": {"residue"},
    "exclusive_temp": {"not_fsynced", "directory_not_fsynced", "leftover_blocks"},
    "thread_not_waited_for": {"returned_early"},
    "thread_that_overwrites": {"in_place"},
}
"""What is wrong with some of them, worked out by hand."""


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.name)
def test_every_fault_has_a_reason(save: Save) -> None:
    exploration: Exploration[Any] = explore(save.save, save.load, old=state(1, 20), new=state(2, 60))
    found = diagnose(exploration)
    answers = (
        exploration.survives_kill,
        exploration.survives_power_loss,
        exploration.durable_on_return,
        exploration.next_save_works,
    )
    assert bool(found) == (False in answers or bool(exploration.residue))
    if save.name in KINDS:
        assert {fault.kind for fault in found} == KINDS[save.name]
    for lang in ("en", "zh"):
        for fault in found:
            assert "?" not in fault.fault(lang).replace("NamedTemporaryFile", "") or fault.names.get("error")
            assert "outside the code" not in fault.fault(lang) + fault.advice(lang)
        assert max(width_of(line) for line in as_text(exploration, lang=lang).splitlines()) <= 80
        assert as_html(exploration, lang=lang).count("<svg") > 1
