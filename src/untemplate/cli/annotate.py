"""untemplate annotate: label a site's pages in the browser."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from urllib.parse import urlencode

import click

from untemplate.cli.catalog_options import first_host, open_catalog
from untemplate.cli.serve import serve, server_options
from untemplate.cli.shell import (
    counted,
    examples,
    find_templates,
    open_pages,
    pages_argument,
    progress,
    read_template_names,
    say,
    templates_option,
)

__all__ = ["command"]


@click.command(
    epilog=examples(
        "untemplate annotate pages/ --schema restaurant",
        "untemplate annotate pages/ --schema restaurant --labels labels.jsonl",
        "untemplate annotate crawl.warc.gz --schema product.toml --no-browser",
    )
)
@pages_argument
@click.option("--schema", "schema_name", required=True, help="A TOML file, or the name of a ready-made one.")
@templates_option
@click.option(
    "--site",
    help="The name of the site in the catalog; the host of its pages, or else the name of PAGES, if not given.",
)
@server_options
def command(
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    schema_name: str,
    label_files: tuple[Path, ...],
    site: str | None,
    catalog_name: str,
    port: int,
    no_browser: bool,
) -> None:
    """Label pages in the browser and watch the records appear.

    PAGES is any source of pages; see untemplate cluster --help. Its templates are found, and the pages worth
    labeling are kept in the catalog, with every label from the moment it is given. Then the web pages are served
    on this machine until Ctrl+C.

    Templates that untemplate cluster --merge or --split corrected are kept: those of --labels, else those that the
    catalog knows of an earlier run.
    """
    from untemplate.schema import Schema
    from untemplate.sources import source_name
    from untemplate.web import add_site, check_port, named_templates

    check_port(port)
    schema = Schema.load(schema_name)
    with open_catalog(catalog_name, create=True) as catalog:
        with open_pages(source, url_column, html_column, render) as pages:
            templates = read_template_names(label_files)
            clustering = find_templates(pages, templates)
            site_pages = list(chain.from_iterable(cluster.pages for cluster in clustering))
            name = site or first_host(page.url for page in site_pages) or source_name(source)
            if not templates and (templates := named_templates(catalog, name)):
                clustering = find_templates(pages, templates)
            options = {"url_column": url_column, "html_column": html_column, "render": render}
            chosen = progress(clustering, "Choosing pages", len(clustering))
            add_site(catalog, name, chosen, schema, pages, options)
        sizes = f"{counted(len(site_pages), 'page')} in {counted(len(clustering), 'template')}"
        say(f"{name}: {sizes}, schema {schema.name}.")
        serve(catalog, port, not no_browser, f"#/annotate?{urlencode({'site': name})}")
