"""A language model as labeler: F1 of the rules from its labels, and what asking costs, against sending every page.

python -m benchmarks.measure.llm --model MODEL                                    OpenAI, with OPENAI_API_KEY
python -m benchmarks.measure.llm --model MODEL --endpoint http://localhost:11434/v1 --every 8 --sites zagat
python -m benchmarks.measure.llm --model MODEL --set recipes --price 0.40 1.60

The model is asked about five pages of each site (two of `recipes`, which have few). Sending every page is estimated
by the tokens of its outline, which is the cheapest way to show it. Answers are kept: a second run asks nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import recipes
from benchmarks.data.labeled_site import keys
from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, schema_of, score
from untemplate import Page, Rules, Schema, cluster, learn
from untemplate.errors import LabelError
from untemplate.labeling.endpoint import Endpoint, TokenPrice
from untemplate.labeling.llm import ModelLabeler
from untemplate.learning.model_labels import ask_about_site, plan_questions
from untemplate.page.outline import find_site_words, outline_page

ASKED_PAGES = 5
# Pages of a site whose outlines estimate the tokens of all.
OUTLINED_PAGES = 10


@dataclass(frozen=True)
class SiteResult:
    """What a model did on one site.

    Attributes:
        name: the site.
        f1: of the rules from its labels.
        tokens: of all questions about its pages, whether they were asked or known.
        tokens_of_all: what sending every page needs.
        dropped: labels that rules of other pages did not support.
        failures: answers that were no labels.
    """

    name: str
    f1: float
    tokens: int
    tokens_of_all: float
    dropped: int
    failures: int


@dataclass(frozen=True)
class Asked:
    """A model and its price."""

    model: str
    endpoint: str | None
    price: TokenPrice | None

    def learn(self, pages: Sequence[Page], schema: Schema) -> tuple[Rules, SiteResult]:
        """Learn the rules of a site from the model's labels; the result is still without a score."""
        labeler = ModelLabeler(schema, Endpoint(self.model, self.endpoint, price=self.price))
        plan = plan_questions(cluster(pages), ASKED_PAGES)
        tokens = 0
        for template in plan:
            questions = labeler.questions(template.pages, template.site_words)
            tokens += sum(question.tokens for question, _ in questions)
        confirmed = ask_about_site(plan, labeler)
        try:
            rules = learn(pages, confirmed.labels, schema)
        except LabelError:  # nothing to learn from
            rules = Rules(schema, ())
        dropped, failures = len(confirmed.dropped), labeler.failures.total()
        return rules, SiteResult("", 0.0, tokens, _tokens_of_all(pages), dropped, failures)


def _tokens_of_all(pages: Sequence[Page]) -> float:
    """Return the tokens of the outlines of all pages, estimated by some of them."""
    some = pages[:: max(1, len(pages) // OUTLINED_PAGES)][:OUTLINED_PAGES]
    words = find_site_words(some)
    return mean(outline_page(page, words).tokens for page in some) * len(pages)


def measure_swde(sites: Sequence[Site], asked: Asked, console: Console) -> Iterator[SiteResult]:
    """Yield the result of each site; F1 by page hits, as for all rules on SWDE."""
    for site in track(sites, "SWDE", console=console, transient=True):
        pages = site.pages()
        rules, result = asked.learn(pages, schema_of(site.vertical))
        scores = score(partial(_extract_texts, rules), pages, site.truth())
        f1 = mean(one.f1 for one in scores.values())
        yield replace(result, name=f"{site.vertical} {site.name}", f1=f1)


def _extract_texts(rules: Rules, page: Page) -> dict[str, str | None]:
    record = rules.extract_one(page)
    return {name: record[name] for name in rules.schema.attributes}


def measure_recipes(asked: Asked, every: int, console: Console) -> Iterator[SiteResult]:
    """Yield the result of each recipe site, judged on all its pages."""
    for name in track(recipes.site_names()[::every], "recipes", console=console, transient=True):
        site = recipes.read_site(name)
        if site is None:
            continue
        rules, result = asked.learn(site.pages, site.schema)
        judged = right = wrong = 0
        for page in site.pages:
            record = rules.extract_one(page)
            for attribute, values in site.truth[page.id].items():
                found = [value.text for value in record.values.get(attribute, ())]
                judged += 1
                right += keys(found) == keys(values)
                wrong += bool(found) and keys(found) != keys(values)
        yield replace(result, name=name, f1=2 * right / (judged + right + wrong) if right else 0.0)


def show(console: Console, results: Sequence[SiteResult], asked: Asked) -> None:
    """Print a row for each site, and their means."""
    table = Table("site", "F1", "tokens", "all pages", "dollars", "all pages", "dropped", "no label")
    for result in results:
        table.add_row(*_cells(result, asked))
    table.add_section()
    means = SiteResult(
        "mean",
        mean(one.f1 for one in results),
        round(mean(one.tokens for one in results)),
        mean(one.tokens_of_all for one in results),
        sum(one.dropped for one in results),
        sum(one.failures for one in results),
    )
    table.add_row(*_cells(means, asked))
    console.print(table)


def _cells(result: SiteResult, asked: Asked) -> Iterator[str]:
    yield from (result.name, f"{result.f1:.3f}", f"{result.tokens:,}", f"{result.tokens_of_all:,.0f}")
    for tokens in (result.tokens, result.tokens_of_all):
        yield f"{asked.price.cost(round(tokens), 0):.4f}" if asked.price else ""
    yield from (str(result.dropped), str(result.failures))


def main(arguments: Sequence[str]) -> int:
    parser = site_parser("llm", __doc__)
    parser.add_argument("--model", help="the name of the model; without it nothing is measured")
    parser.add_argument("--endpoint", metavar="URL", help="an OpenAI-compatible server")
    parser.add_argument(
        "--price", nargs=2, type=float, metavar=("IN", "OUT"), help="dollars a million tokens"
    )
    parser.add_argument("--set", choices=("swde", "recipes"), default="swde", help="which pages")
    options = parser.parse_args(arguments)
    console, sites = open_sites(options)
    if not options.model:
        console.print("skipped: no --model to measure")
        return 0
    asked = Asked(options.model, options.endpoint, TokenPrice(*options.price) if options.price else None)
    if options.set == "recipes":
        results = list(measure_recipes(asked, options.every, console))
    else:
        results = list(measure_swde(sites, asked, console))
    show(console, results, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
