"""The package's version, and of what it was made."""

from ._api import version as VERSION

PACKAGE_SUFFIX = ""
REVISIONS = {"IREE": VERSION}
