"""Compile the native core while the package is built: a hook of hatchling.

The module uses Python's stable interface, so one wheel of a platform works with every Python from 3.11 on. Without a
C compiler the package is built without the core: lxml does its work, slower, and `untemplate --version` says so.

python scripts/build_core.py        compiles the core beside its source, for development
python scripts/build_core.py -g -fsanitize=address,undefined        with these options of the compiler
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "untemplate.native.core"
STABLE_SINCE = (3, 11)


class CoreBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled core to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core; a failure is a note, not an error."""
        try:
            library = compile_core(Path(self.root))
        except Exception as error:  # whatever a compiler, or the lack of one, may raise
            self.app.display_warning(f"untemplate is built without its native core, so slower: {error}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{STABLE_SINCE[0]}{STABLE_SINCE[1]}-abi3-{platform}"
        build_data["artifacts"].append(str(library.relative_to(self.root)))


def compile_core(root: Path, options: tuple[str, ...] = ()) -> Path:
    """Compile the core beside its source, and return the library.

    Args:
        root: the folder with `pyproject.toml`.
        options: further options of the compiler and the linker.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    folder = root / "src" / "untemplate" / "native"
    extension = Extension(
        MODULE,
        [str(folder / "core.pyx")],
        define_macros=[("Py_LIMITED_API", f"0x{STABLE_SINCE[0]:02x}{STABLE_SINCE[1]:02x}0000")],
        extra_compile_args=["-O3", "-g0", *options],
        extra_link_args=list(options),
        py_limited_api=True,
    )
    with TemporaryDirectory() as build_folder:
        extensions = cythonize([extension], build_dir=build_folder, language_level=3, quiet=True)
        command = build_ext(Distribution({"ext_modules": extensions}))
        command.build_temp = command.build_lib = build_folder
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(MODULE))
        library = folder / built.name
        library.unlink(missing_ok=True)  # another process may use the old one
        library.write_bytes(built.read_bytes())
    return library


if __name__ == "__main__":
    print(compile_core(Path(__file__).parents[1], tuple(sys.argv[1:])))
