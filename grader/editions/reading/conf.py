"""Sphinx's configuration of the reading edition. Nothing in the pages is fetched from elsewhere."""

import os
from importlib.metadata import version as installed

project = "Crash Course"
author = "the authors of Crash Course"
release = version = installed("crash-course")
language = "en"

extensions = ["myst_nb"]
exclude_patterns = ["_build"]
templates_path: list[str] = []
html_static_path = ["_static"]
html_css_files = ["reading.css"]

html_theme = "sphinx_book_theme"
html_title = "Crash Course"
html_theme_options = {
    "show_toc_level": 2,
    "use_download_button": True,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
}
html_show_sourcelink = False
html_copy_source = True
html_search_language = "en"
suppress_warnings = ["mystnb.unknown_mime_type"]

myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = os.environ["CRASH_COURSE_READING_CACHE"]
nb_execution_excludepatterns = ["exercises/**"]  # unsolved: there is nothing to show yet
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
