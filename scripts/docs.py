"""Writes docs/commands.md from `--help` of every command, and checks the links of all documents."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from untemplate.cli import cli

ROOT = Path(__file__).parents[1]
COMMANDS = ROOT / "docs" / "commands.md"

INTRODUCTION = """\
# Commands

Written by `make docs` from the commands themselves; a test fails when it is out of date.
"""


def commands_page() -> str:
    """docs/commands.md as it should be."""
    sections = [INTRODUCTION]
    for command_path, text in _helps(cli, "untemplate"):
        sections.append(f"## {command_path}\n\n```\n{text}\n```\n")
    return "\n".join(sections)


def broken_links() -> list[str]:
    """Links of the documents to files or headings that do not exist."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(page.read_text("utf-8")))
        if not _exists(page, target)
    ]


def _helps(command: click.Command, command_path: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=command_path, terminal_width=90, **cli.context_settings)
    yield command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (child := command.get_command(context, name)) is not None:
                yield from _helps(child, f"{command_path} {name}")


def _exists(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True
    name, _, heading = target.partition("#")
    file = page.parent / name if name else page
    if not file.exists():
        return False
    return not heading or heading in _anchors(file.read_text("utf-8"))


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", _without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def main() -> int:
    COMMANDS.write_text(commands_page(), "utf-8")
    broken = broken_links()
    for link in broken:
        print(f"broken link: {link}", file=sys.stderr)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
