"""Options of commands that ask a language model, and what they print about asking."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from untemplate.cli.shell import counted, find_templates, say
from untemplate.errors import InputError

if TYPE_CHECKING:
    from untemplate.labeling.llm import Estimate, ModelLabeler
    from untemplate.learning.outvoting import ConfirmedLabels
    from untemplate.schema import Schema
    from untemplate.sources import Pages

__all__ = ["ModelOptions", "label_by_model", "model_options", "report_asking"]

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
        """Return the labeler, with a limit of costs if the price is known."""
        from untemplate.labeling.endpoint import Endpoint, TokenPrice
        from untemplate.labeling.llm import ModelLabeler

        price = TokenPrice(*self.price) if self.price else None
        endpoint = Endpoint(
            self.model or "", self.endpoint, price=price, max_cost=self.max_cost if price else None
        )
        return ModelLabeler(schema, endpoint)


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
        help="Ask before spending more, and stop there; needs --price.",
    ),
)


def label_by_model(pages: Pages, labeler: ModelLabeler, k: int) -> ConfirmedLabels:
    """Ask a model about `k` pages of each template, after a person agreed to costs above the limit."""
    from untemplate.learning.model_labels import ask_about_site, estimate_questions, plan_questions

    plan = plan_questions(find_templates(pages), k)
    _agree_to_costs(estimate_questions(plan, labeler), labeler)
    confirmed = ask_about_site(plan, labeler)
    report_asking(labeler)
    for dropped in confirmed.dropped:
        say(f"Dropped: {dropped}.")
    if confirmed.for_person:
        say(
            f"A person has to label {', '.join(dict.fromkeys(confirmed.for_person))}: see untemplate annotate."
        )
    return confirmed


def _agree_to_costs(estimate: Estimate, labeler: ModelLabeler) -> None:
    """Print what asking costs, and ask a person if that is above the limit."""
    endpoint = labeler.endpoint
    tokens = estimate.question_tokens + estimate.answer_tokens
    text = f"{counted(estimate.questions, 'question')} for {endpoint.model}, about {tokens:,} tokens"
    if endpoint.price is None:
        say(f"{text}.")
        return
    cost = endpoint.price.cost(estimate.question_tokens, estimate.answer_tokens)
    say(f"{text}, about {cost:.2f} dollars.")
    if endpoint.max_cost is None or cost <= endpoint.max_cost:
        return
    if not sys.stdin.isatty():
        raise InputError(
            f"asking costs about {cost:.2f} dollars: give --max-cost {cost + 0.01:.2f} to allow it"
        )
    click.confirm(f"This is more than {endpoint.max_cost:.2f} dollars. Ask anyway?", abort=True, err=True)
    endpoint.max_cost = None


def report_asking(labeler: ModelLabeler) -> None:
    """Print what was asked and paid, and a line for each kind of failure."""
    endpoint, usage = labeler.endpoint, labeler.endpoint.usage
    cost = "" if endpoint.cost is None else f", {endpoint.cost:.4f} dollars"
    tokens = usage.question_tokens + usage.answer_tokens
    say(f"Asked {counted(usage.asked, 'question')}, {usage.cached} known: {tokens:,} tokens{cost}.")
    for kind, count in labeler.failures.most_common():
        say(f"{count} × {kind}.")
