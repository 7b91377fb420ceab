"""The command line: a thin file per command, each a shell over a function of the library.

A command's module is imported only when the command runs, so that `untemplate --help` starts at once.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

import click

from untemplate.errors import MissingExtra, UntemplateError, extra_of_module

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS = (
    "demo",
    "try",
    "schema",
    "cluster",
    "sample",
    "show",
    "annotate",
    "train",
    "label",
    "learn",
    "extract",
    "records",
    "watch",
    "heal",
    "status",
    "rules",
    "serve",
    "mcp",
)
"""In the order of the flow. Each is the function `command` in the module of its name; `try` is in `try_page`."""

DONE, UNUSABLE, INTERRUPTED, BROKEN_PIPE, TERMINATED = 0, 2, 130, 141, 143


class _Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM. Commands treat it as an interrupt: files are closed, workers end."""


class _Commands(click.Group):
    """A group that imports the module of a command when the command is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = "try_page" if name == "try" else name  # `try` is a word of Python
        command: click.Command = importlib.import_module(f"untemplate.cli.{module}").command
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Results go to standard output, messages to standard error. "
    "Exit codes: 0 done, 1 done with findings, 2 wrong usage or unusable input.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, is_asked: _show_version(context) if is_asked else None,
    help="Show the version, and whether the native core is used.",
)
def cli() -> None:
    """Turn template-generated web sites back into the database they were made from."""


def _show_version(context: click.Context) -> None:
    """Print the version, and whether the core was compiled."""
    from untemplate.native import describe_core
    from untemplate.version import PACKAGE_VERSION

    click.echo(f"untemplate, version {PACKAGE_VERSION}, {describe_core()}")
    context.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Whatever ends a command early becomes one line on standard error: nobody should have to read a traceback.

    Args:
        arguments: the command line without the program's name; that of this process if not given.
    """
    # Otherwise pydantic looks through all installed packages for plugins, which takes longer than to read rules.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        with cli.make_context("untemplate", words or ["--help"]) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        # The reader of our output has closed it; what is still buffered must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except _Terminated:
        return _fail("untemplate: ended by SIGTERM", TERMINATED)
    except (KeyboardInterrupt, click.Abort):
        return _fail("untemplate: interrupted", INTERRUPTED)
    except ModuleNotFoundError as error:
        return _fail(f"untemplate: {_missing_extra(error)}", UNUSABLE)
    except (click.ClickException, UntemplateError, OSError) as error:
        return _fail(_explain_error(error), UNUSABLE)
    return DONE


def _missing_extra(error: ModuleNotFoundError) -> MissingExtra:
    """Return which extra has a module that is missing; raise the error again if none has it."""
    extra = extra_of_module(error.name or "")
    if extra is None:
        raise error
    return MissingExtra(extra, "A part that this command needs")


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second signal ends the process at once
    raise _Terminated


def _explain_error(error: Exception) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "untemplate"
        return f"{command}: {error.format_message()} Try {command} --help"
    if isinstance(error, click.ClickException):
        return f"untemplate: {error.format_message()}"
    return f"untemplate: {error}"


def _fail(message: str, code: int) -> int:
    click.echo(" ".join(message.split()), err=True)
    return code
