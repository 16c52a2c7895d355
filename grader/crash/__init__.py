"""The crash explorer: record a save once, derive every image a crash could leave, run recovery on each.

It knows nothing of the course and serves anyone's code: see ``explore``.
"""

from grader.crash.disk import ROOT, Disk
from grader.crash.image import Image, Inode
from grader.crash.operations import Mark, Operation, Recording, Where

__all__ = ["ROOT", "Disk", "Image", "Inode", "Mark", "Operation", "Recording", "Where"]
