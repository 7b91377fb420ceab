"""What a repair reports: rules that were learned again, lost or left as they are, with examples of values."""

from __future__ import annotations

from dataclasses import dataclass, field

from untemplate.rules import Wrapper

__all__ = ["Difference", "Loss", "Refusal", "Repair", "RepairedCluster"]


@dataclass(frozen=True)
class Repair:
    """A rule that was learned again."""

    cluster: str
    attribute: str
    how: str


@dataclass(frozen=True)
class Loss:
    """A rule that broke and could not be repaired."""

    cluster: str
    attribute: str
    why: str


@dataclass(frozen=True)
class Difference:
    """Values of an attribute on one page, before and after healing."""

    page: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """A change of a rule that was not made, because values would have been lost or changed without cause.

    Attributes:
        cluster: the cluster of the rule.
        attribute: the attribute of the rule; None if all rules of the cluster stay.
        why: what was tried, and why it was refused, in words.
        differences: examples of values that would have been lost or changed.
    """

    cluster: str
    attribute: str | None
    why: str
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class RepairedCluster:
    """The new wrapper of a cluster, and how it came about.

    Attributes:
        wrapper: the rules, with fresh bellwethers.
        repairs: rules that were learned again.
        losses: rules that could not be repaired.
        refusals: rules that failed a test and stay as they are, because they are right more often than not.
        to_label: ids of pages that a person should label.
    """

    wrapper: Wrapper
    repairs: list[Repair] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    to_label: list[str] = field(default_factory=list)

    @property
    def is_unchanged(self) -> bool:
        """True if all rules stay as they are."""
        return not self.repairs and not self.losses
