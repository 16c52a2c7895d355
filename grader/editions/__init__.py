"""The course to read and the course in a browser: static sites that are built from the notebooks."""


class NotBuilt(Exception):
    """An edition could not be built; the message says why, in a sentence or in the words of the tool that failed."""
