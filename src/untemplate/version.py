"""The version of the package. To ask the system's list of packages for it takes longer than to read a rules file."""

__all__ = ["PACKAGE_VERSION"]

PACKAGE_VERSION = "0.1.0"
