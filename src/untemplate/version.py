"""The version of the package. To ask the system's list of packages for it takes longer than to read a rules file."""

__all__ = ["__version__"]

__version__ = "0.1.0"
