"""What an instructor sees in formgrader: the graded class, and a submission that waits with a suggested mark."""

from real_browser import Browser


def test_the_graded_class_is_listed(browser: Browser, lab: str) -> None:
    page = browser.page()
    page.goto(f"{lab}/formgrader/manage_submissions/level2")
    rows = page.locator("tbody tr")
    for student, score in (("ada", "14 / 14"), ("emil", "10 / 14")):
        rows.filter(has_text=student).filter(has_text="graded").filter(has_text=score).wait_for()
    browser.picture(page, "formgrader-class")


def test_a_waiting_submission_opens_with_its_suggested_mark(browser: Browser, lab: str) -> None:
    page = browser.page()
    page.goto(f"{lab}/formgrader/gradebook/level1/level1")
    page.locator("tbody a.name-hidden").click()
    box = page.locator("#level1-answer-comment")
    box.wait_for()
    page.wait_for_function(
        "() => document.querySelector('#level1-answer-comment').placeholder.includes('Suggested: 2 of 2')"
    )
    assert page.locator(".crash-course-verdict", has_text="waits for a person").first.is_visible()
    box.scroll_into_view_if_needed()
    browser.picture(page, "formgrader-submission")


def test_no_script_of_a_learners_runs_before_the_instructor(browser: Browser, lab: str) -> None:
    page = browser.page()
    page.goto(f"{lab}/formgrader/gradebook/level2/level2")
    page.locator("tbody a.name-hidden").first.wait_for()
    links = page.locator("tbody a.name-hidden").evaluate_all("all => all.map(one => one.href)")
    assert len(links) == 3
    for link in links:
        page.goto(link)
        page.locator("textarea.comment").first.wait_for()
        assert page.title() != "run"
