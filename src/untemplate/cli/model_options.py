"""Options of commands that ask a language model, and what they print about asking."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from untemplate.cli.shell import counted, find_templates, say
from untemplate.errors import EndpointError, InputError

if TYPE_CHECKING:
    from untemplate.labeling import Label
    from untemplate.labeling.endpoint import Endpoint
    from untemplate.labeling.llm import Estimate, ModelLabeler
    from untemplate.learning.outvoting import ConfirmedLabels
    from untemplate.page import Page
    from untemplate.schema import Schema
    from untemplate.sources import Pages

__all__ = ["HealLabeler", "ModelOptions", "label_by_model", "model_options"]

MAX_COST = 1.0

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class ModelOptions:
    """Which model is asked, where, and what it may cost.

    Attributes:
        model: the name of the model; None if no model is asked.
        endpoint: the address of the server.
        price: dollars for a million tokens of questions and of answers.
        max_cost: dollars above which a person is asked.
    """

    model: str | None
    endpoint: str | None
    price: tuple[float, float] | None
    max_cost: float

    def make_labeler(self, schema: Schema) -> ModelLabeler:
        """Return a labeler, with a limit of costs if the price is known."""
        from untemplate.labeling.llm import ModelLabeler

        return ModelLabeler(schema, self._make_endpoint())

    def make_healer(self) -> HealLabeler:
        """Return a labeler for heals, of one site or of many, which share its limit of costs."""
        return HealLabeler(self._make_endpoint())

    def _make_endpoint(self) -> Endpoint:
        from untemplate.labeling.endpoint import Endpoint, TokenPrice

        price = TokenPrice(*self.price) if self.price else None
        max_cost = self.max_cost if price else None
        return Endpoint(self.model or "", self.endpoint, price=price, max_cost=max_cost)


class HealLabeler:
    """Asks a model about what cannot be healed otherwise, within the limit of costs.

    Each call estimates its costs first. Where they are above what is left of the limit, or where the model cannot be
    asked, there are no labels, and the heal goes on without them: what was healed from memory is never lost.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.failures: Counter[str] = Counter()

    def __call__(self, schema: Schema) -> _SiteHealLabeler:
        """Return the labeler of a site."""
        from untemplate.labeling.llm import ModelLabeler

        return _SiteHealLabeler(ModelLabeler(schema, self.endpoint, failures=self.failures))

    def report(self) -> None:
        """Print what was asked and paid, and a line for each kind of failure."""
        _report_asking(self.endpoint, self.failures)


@dataclass(frozen=True)
class _SiteHealLabeler:
    labeler: ModelLabeler

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """Return what the model says about pages of one template; nothing above the limit of costs."""
        from untemplate.page.outline import find_site_words

        site_words = find_site_words(pages)
        cost = _show_estimate(self.labeler.estimate(pages, site_words), self.labeler.endpoint)
        if cost is not None:
            self.labeler.failures[f"not asked: about {cost:.4f} dollars in all is above --max-cost"] += 1
            return []
        try:
            return self.labeler.ask(pages, site_words)
        except EndpointError as error:
            self.labeler.failures[f"not asked: {error}"] += 1
            return []


def model_options(command: Command) -> Command:
    """Add the options of a language model. The command gets them as `model`, a `ModelOptions`."""

    @wraps(command)
    def with_model(
        *arguments: Any,
        llm: str | None,
        endpoint: str | None,
        price: tuple[float, float] | None,
        max_cost: float,
        **options: Any,
    ) -> Any:
        if llm is None and (endpoint or price):
            raise click.UsageError("--endpoint and --price need --llm: the name of a model.")
        return command(*arguments, model=ModelOptions(llm, endpoint, price, max_cost), **options)

    decorated: Any = with_model
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return cast(Command, decorated)


_OPTIONS = (
    click.option(
        "--llm",
        metavar="MODEL",
        help="Ask this language model about a few pages. Its key is read from OPENAI_API_KEY. Needs the extra `llm`.",
    ),
    click.option(
        "--endpoint",
        metavar="URL",
        help="The address of an OpenAI-compatible server, such as http://localhost:11434/v1; OpenAI if not given.",
    ),
    click.option(
        "--price",
        type=click.FloatRange(min=0),
        nargs=2,
        metavar="IN OUT",
        help="Dollars for a million tokens of questions and of answers, to know costs.",
    ),
    click.option(
        "--max-cost",
        default=MAX_COST,
        show_default=True,
        type=click.FloatRange(min=0),
        metavar="DOLLARS",
        help="Spend no more without asking a person; heal never asks, and does without. Needs --price.",
    ),
)


def label_by_model(pages: Pages, labeler: ModelLabeler, k: int) -> ConfirmedLabels:
    """Ask a model about `k` pages of each template, after a person agreed to costs above the limit."""
    from untemplate.learning.model_labels import ask_about_site, estimate_questions, plan_questions

    plan = plan_questions(find_templates(pages), k)
    _agree_to_costs(estimate_questions(plan, labeler), labeler.endpoint)
    confirmed = ask_about_site(plan, labeler)
    _report_asking(labeler.endpoint, labeler.failures)
    for dropped in confirmed.dropped:
        say(f"Dropped: {dropped}.")
    if confirmed.for_person:
        say(
            f"A person has to label {', '.join(dict.fromkeys(confirmed.for_person))}: see untemplate annotate."
        )
    return confirmed


def _agree_to_costs(estimate: Estimate, endpoint: Endpoint) -> None:
    """Print what asking costs, and ask a person if that is above the limit."""
    cost = _show_estimate(estimate, endpoint)
    if cost is None:
        return
    if not sys.stdin.isatty():
        raise InputError(
            f"asking costs about {cost:.2f} dollars: give --max-cost {cost + 0.01:.2f} to allow it"
        )
    click.confirm(f"This is more than {endpoint.max_cost:.2f} dollars. Ask anyway?", abort=True, err=True)
    endpoint.max_cost = None


def _show_estimate(estimate: Estimate, endpoint: Endpoint) -> float | None:
    """Print what asking costs; return all costs with those so far if they are above the limit, otherwise None."""
    tokens = estimate.question_tokens + estimate.answer_tokens
    text = f"{counted(estimate.questions, 'question')} for {endpoint.model}, about {tokens:,} tokens"
    if endpoint.price is None:
        say(f"{text}.")
        return None
    cost = endpoint.price.cost(estimate.question_tokens, estimate.answer_tokens)
    say(f"{text}, about {cost:.4f} dollars.")
    total = (endpoint.cost or 0.0) + cost
    return total if endpoint.max_cost is not None and total > endpoint.max_cost else None


def _report_asking(endpoint: Endpoint, failures: Counter[str]) -> None:
    """Print what was asked and paid, and a line for each kind of failure."""
    usage = endpoint.usage
    cost = "" if endpoint.cost is None else f", {endpoint.cost:.4f} dollars"
    tokens = usage.question_tokens + usage.answer_tokens
    say(f"Asked {counted(usage.asked, 'question')}, {usage.cached} known: {tokens:,} tokens{cost}.")
    for kind, count in failures.most_common():
        say(f"{count} × {kind}.")
