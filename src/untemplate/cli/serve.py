"""untemplate serve: the web pages over a catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from untemplate.cli.catalog_options import DEFAULT_CATALOG, catalog_option, open_catalog
from untemplate.cli.shell import examples, say

if TYPE_CHECKING:
    from untemplate.catalog import Catalog

__all__ = ["command", "serve", "server_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


def server_options(command: Command) -> Command:
    """Give a command the options of a server."""
    for decorate in (
        click.option("--no-browser", is_flag=True, help="Print the address and open nothing."),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=0,
            show_default="any that is free",
            help="Port on this machine.",
        ),
        catalog_option("Where everything is kept.", DEFAULT_CATALOG),
    ):
        command = decorate(command)
    return command


@click.command(
    epilog=examples(
        "untemplate serve",
        "untemplate serve --catalog postgresql://localhost/untemplate --port 8700 --no-browser",
    )
)
@server_options
def command(catalog_name: str, port: int, no_browser: bool) -> None:
    """Label pages and look after sites in the browser.

    Add sites, label and review pages, look at rules and their history, watch for changes, heal, and export records.
    A catalog that does not exist yet is created: the browser then asks for pages, and offers a sample site.
    """
    with open_catalog(catalog_name, create=True) as catalog:
        serve(catalog, port, not no_browser)


def serve(catalog: Catalog, port: int, browser: bool, view: str = "") -> None:
    """Serve until interrupted; `view` is what the browser opens."""
    import webbrowser

    from untemplate.web import run_server

    def show_address(url: str) -> None:
        click.echo(url)
        say("Whoever has this address can read and change the catalog. Ctrl+C ends the server.")
        if browser and not webbrowser.open(url):
            say("No browser could be opened; open the address above in one.")

    run_server(catalog, port, show_address, view)
