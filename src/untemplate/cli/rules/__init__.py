"""untemplate rules: show rules, test them, import and export them, and return to earlier versions."""

from __future__ import annotations

import click

from untemplate.cli.rules.catalog_versions import (
    export_command,
    history_command,
    import_command,
    rollback_command,
)
from untemplate.cli.rules.rules_file import (
    diff_command,
    show_command,
    show_scores,
    test_command,
    xslt_command,
)
from untemplate.cli.shell import examples

__all__ = ["command", "show_scores"]


@click.group(
    "rules",
    epilog=examples(
        "untemplate rules show rules.json",
        "untemplate rules xslt rules.json -o sheets/",
        "untemplate rules test rules.json pages/ --labels labels.jsonl",
        "untemplate rules history books.example",
    ),
)
def command() -> None:
    """Look at rules, test them, carry them around, go back to earlier ones."""


for subcommand in (
    show_command,
    xslt_command,
    test_command,
    diff_command,
    import_command,
    export_command,
    history_command,
    rollback_command,
):
    command.add_command(subcommand)
