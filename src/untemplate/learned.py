"""What learning a site gives: its rules, and what a person should know about how they were learned."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from untemplate.errors import LabelError
from untemplate.extraction import Rules
from untemplate.learning import AttributeReport, LearnedCluster
from untemplate.watching import BorrowedWrapper

__all__ = ["Learned"]

# How many reasons an error names; the rest is counted.
MAX_NAMED_REASONS = 5


@dataclass(frozen=True)
class Learned:
    """The rules of a site, and what a person should know about how they were learned."""

    rules: Rules
    labeled: list[LearnedCluster]
    unlabeled: list[BorrowedWrapper]
    ignored: list[str]  # labels that could not be used

    @property
    def reports(self) -> dict[str, list[AttributeReport]]:
        """How learning went for each attribute, by cluster."""
        return {result.wrapper.cluster: result.reports for result in self.labeled}

    @property
    def borrowed(self) -> dict[str, str]:
        """Clusters without labels, with the cluster whose rules they use."""
        return {result.wrapper.cluster: result.lender for result in self.unlabeled if result.lender}

    @property
    def needs_labels(self) -> list[str]:
        """Clusters that have no rules until a person labels more of their pages."""
        results: list[LearnedCluster | BorrowedWrapper] = [*self.labeled, *self.unlabeled]
        return [result.wrapper.cluster for result in results if result.needs_labels]

    @property
    def problems(self) -> list[str]:
        """What was wrong with labels and pages, as sentences."""
        return [*self.ignored, *chain.from_iterable(result.problems for result in self.labeled)]

    @property
    def all_problems(self) -> list[str]:
        """The problems of the site, then those of each attribute with its name."""
        reports = chain.from_iterable(self.reports.values())
        named = ([f"{report.attribute}: {problem}" for problem in report.problems] for report in reports)
        return [*self.problems, *chain.from_iterable(named)]

    def check_rules(self) -> None:
        """Raise if there is no rule: rules that extract nothing are not a result.

        Raises:
            LabelError: no attribute of any cluster got a rule; the message says why.
        """
        if any(wrapper.rules for wrapper in self.rules.wrappers):
            return
        reasons = self.all_problems or ["they contain no value"]
        named = "; ".join(reasons[:MAX_NAMED_REASONS])
        more = f"; and {len(reasons) - MAX_NAMED_REASONS} more" if len(reasons) > MAX_NAMED_REASONS else ""
        raise LabelError(f"nothing was learned from the labels, so there are no rules: {named}{more}")

    @property
    def attributes_to_check(self) -> list[str]:
        """Attributes that were labeled but got no rule, or one that does not return its labels."""
        reports = chain.from_iterable(self.reports.values())
        return list(dict.fromkeys(report.attribute for report in reports if report.needs_check))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rules themselves, as JSON data."""
        clusters = {name: [report.to_dict() for report in reports] for name, reports in self.reports.items()}
        summary = {"borrowed": self.borrowed, "needs_labels": self.needs_labels, "problems": self.problems}
        return {"clusters": clusters, **summary}
