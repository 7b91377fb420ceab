"""Packages whose modules are imported when one of their names is first used, so that starting is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, which imports a name when it is first used.

    Args:
        package: the name of the package.
        homes: module of the package → its names.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find_name(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find_name
