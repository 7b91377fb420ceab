"""untemplate mcp: tools for language-model agents."""

from __future__ import annotations

from pathlib import Path

import click

from untemplate.cli.shell import examples, say

__all__ = ["command"]


@click.command(
    epilog=examples(
        "untemplate mcp pages/",
        "untemplate mcp crawls/ --work results/ --allow-host books.example",
        "untemplate mcp pages/ --http --port 8750",
    )
)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--work",
    default="untemplate-work",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for rules, labels and records. Nothing is written elsewhere.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="A host whose pages may be fetched; may be given several times. Without it nothing is fetched.",
)
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP on this machine, with a token.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any that is free",
    help="With --http, the port on this machine.",
)
def command(
    folders: tuple[Path, ...], work: Path, hosts: tuple[str, ...], over_http: bool, port: int
) -> None:
    """Serve tools for language-model agents, by the Model Context Protocol.

    An agent then labels pages, learns rules, extracts records, watches and heals. Only pages below DIR can be read.
    Claude, Cursor and other clients start this command themselves; docs/agents.md shows how.
    """
    from untemplate.agents.mcp_server import serve_http, serve_stdio
    from untemplate.agents.sandbox import Sandbox

    sandbox = Sandbox(folders, work, hosts)
    if not over_http:
        serve_stdio(sandbox)
        return

    def show_address(url: str, token: str) -> None:
        click.echo(url)
        say(f"Authorization: Bearer {token}")
        say("Whoever has this token can read the pages. Ctrl+C ends the server.")

    serve_http(sandbox, port, show_address)
