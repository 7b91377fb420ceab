"""untemplate schema: list, show and start schemas, which say what to extract."""

from __future__ import annotations

from pathlib import Path

import click

from untemplate.cli.shell import examples, json_option, say, show, show_json
from untemplate.errors import InputError

__all__ = ["command"]


@click.group(
    "schema",
    epilog=examples(
        "untemplate schema list",
        "untemplate schema show book",
        "untemplate schema new tea name price:price photo:image -o tea.toml",
    ),
)
def command() -> None:
    """See the ready-made schemas, or start one of your own."""


@command.command("list", epilog=examples("untemplate schema list"))
@json_option
def list_command(as_json: bool) -> None:
    """List the ready-made schemas and their attributes."""
    from untemplate.schema import Schema

    attributes = {name: list(Schema.load(name).attributes) for name in Schema.ready_made()}
    if as_json:
        show_json(attributes)
    else:
        rows = [(name, ", ".join(names)) for name, names in attributes.items()]
        show("Ready-made schemas", ("schema", "attributes"), rows)


@command.command("show", epilog=examples("untemplate schema show book"))
@click.argument("name")
@json_option
def show_schema_command(name: str, as_json: bool) -> None:
    """Show the attributes of a schema: NAME is that of a ready-made one, or a TOML file."""
    from untemplate.schema import Schema

    schema = Schema.load(name)
    rows = []
    for attribute in schema.attributes.values():
        marks = [mark for mark in ("mandatory", "constant", "many") if getattr(attribute, mark)]
        rows.append((attribute.name, attribute.type, ", ".join(marks), ", ".join(attribute.captions)))
    if as_json:
        keys = ("attribute", "type", "marks", "captions")
        show_json({"name": schema.name, "attributes": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        show(f"Schema {schema.name}", ("attribute", "type", "marks", "other names"), rows)


@command.command("new", epilog=examples("untemplate schema new tea name price:price photo:image -o tea.toml"))
@click.argument("name")
@click.argument("attributes", metavar="ATTRIBUTE[:TYPE]...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    show_default="standard output",
    help="The file to write.",
)
def new_command(name: str, attributes: tuple[str, ...], output: Path | None) -> None:
    """Write a schema NAME with these attributes; a type after a colon, text if none is given.

    The first attribute is mandatory: pages without it get no record.
    """
    text = _schema_text(name, attributes)
    if output is None:
        click.echo(text, nl=False)
        return
    if output.exists():
        raise InputError(f"{output}: exists already; choose another name")
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{output}: cannot write: {error.strerror}") from error
    say(f"The schema is in {output}.")


def _schema_text(name: str, attributes: tuple[str, ...]) -> str:
    """Return the TOML of a schema.

    Raises:
        click.UsageError: there is no such type.
    """
    import json

    from untemplate.value_types import TYPES

    lines = [f"name = {json.dumps(name)}"]
    for number, attribute in enumerate(attributes):
        key, _, type_ = attribute.partition(":")
        if type_ and type_ not in TYPES:
            raise click.UsageError(
                f"{attribute}: there is no type {type_!r}; choose one of {', '.join(TYPES)}."
            )
        lines += ["", f"[attributes.{json.dumps(key)}]", f'type = "{type_ or "text"}"']
        if number == 0:
            lines.append("mandatory = true")
    return "\n".join([*lines, ""])
