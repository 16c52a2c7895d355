"""Feedback page and class report in a browser: quiet, self-contained, fit for a phone, deaf to learners' scripts."""

from pathlib import Path

import pytest
from real_browser import Browser

PAGES = {
    "feedback-level1": "feedback/fatou/level1/level1.html",
    "feedback-level2": "feedback/emil/level2/level2.html",
    "feedback-mallory": "feedback/mallory/level2/level2.html",
    "report-level1": "report/level1.html",
    "report-level2": "report/level2.html",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_and_fits_a_phone(browser: Browser, graded: Path, name: str) -> None:
    for width, scheme in ((390, "light"), (1100, "dark")):
        page = browser.page(width, scheme=scheme)
        page.goto((graded / "classroom" / PAGES[name]).as_uri())
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.title() != "run"
        browser.picture(page, f"{name}-{width}", full_page=True)
    assert browser.complaints == []
    assert browser.outside == []


def test_the_crash_map_scrolls_in_its_own_box_on_a_phone(browser: Browser, graded: Path) -> None:
    page = browser.page(390)
    for path in ("feedback/emil/level2/level2.html", "report/level2.html"):
        page.goto((graded / "classroom" / path).as_uri())
        box = page.locator(".ccmap").first
        assert box.is_visible()
        assert box.evaluate("box => [box.clientWidth <= 390, box.scrollWidth > box.clientWidth]") == [True, True]


def test_dark_pages_are_dark(browser: Browser, graded: Path) -> None:
    page = browser.page(scheme="dark")
    for path in PAGES.values():
        page.goto((graded / "classroom" / path).as_uri())
        colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(colour) < 60


def test_the_report_leads_to_the_feedback(browser: Browser, graded: Path) -> None:
    page = browser.page()
    page.goto((graded / "classroom" / "report" / "level2.html").as_uri())
    page.get_by_role("link", name="emil").first.click()
    page.wait_for_url("**/feedback/emil/level2/level2.html")
    assert page.get_by_role("heading", name="level2 · emil").is_visible()
