"""What a person says about a page, written to the catalog when it is said, and undone without losing anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from untemplate.errors import CatalogError, LabelError
from untemplate.labeling import Label
from untemplate.rules.applying import Match
from untemplate.web.bench import Bench
from untemplate.web.marks import Click, label_at
from untemplate.web.sites import OpenSite

__all__ = ["Change", "change_labels", "confirm", "set_labels"]


@dataclass(frozen=True)
class Change:
    """Labels that now count, and labels that no longer do; the other way round it is undone."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()


def set_labels(site: OpenSite, page: str, attribute: str, clicks: Sequence[Click] | None) -> Change:
    """Say which values an attribute has on a page, in place of what was said before.

    None: the attribute is not on the page. No clicks: nothing is said any more.
    """
    known = site.schema.attributes.get(attribute)
    if known is None:
        raise LabelError(f"schema {site.schema.name!r} has no attribute {attribute!r}")
    parsed, rendering = site.shown(page)
    if clicks is None:
        return _replace(site, page, {attribute: [Label(page, attribute, None)]})
    if len(clicks) > 1 and not known.many:
        raise LabelError(f"{attribute} has one value on a page, not {len(clicks)}")
    return _replace(site, page, {attribute: [label_at(one, parsed, rendering, known) for one in clicks]})


def confirm(site: OpenSite, page: str, attributes: Collection[str] | None = None) -> Change:
    """Take what the rules find on a page for right: in these attributes, or in all without a label there."""
    bench = site.bench(site.cluster_of(page))
    parsed, _ = site.shown(page)
    labelled = {label.attribute for label in bench.labels_of(page)}
    chosen = set(bench.rules) - labelled if attributes is None else set(attributes)
    found = {name: places for name, places in bench.find(parsed).items() if name in chosen}
    return _replace(site, page, {name: _as_labels(page, name, found[name], bench) for name in found})


def change_labels(site: OpenSite, restore: Iterable[int], remove: Iterable[int]) -> Change:
    """Undo or redo: let labels of this site count again, and others no longer."""
    with site.writing:
        own = {given.id: given for given in site.catalog.labels(site.name, removed=True)}
        wanted, unwanted = list(dict.fromkeys(restore)), list(dict.fromkeys(remove))
        if strange := [id for id in [*wanted, *unwanted] if id not in own]:
            raise CatalogError(f"no label {strange[0]} of {site.name} in the catalog")
        added = [id for id in wanted if own[id].removed is not None]
        removed = [id for id in unwanted if own[id].removed is None]
        for id in added:
            site.catalog.restore_label(id, site.desk.by)
        for id in removed:
            site.catalog.remove_label(id, site.desk.by)
    site.desk.changes.tell(site.name)
    return Change(tuple(added), tuple(removed))


def _as_labels(page: str, attribute: str, found: Sequence[Match], bench: Bench) -> list[Label]:
    """What a rule found as labels; a value over several nodes is pinned by its text alone."""
    pinned = bench.rules[attribute].nodes == 1
    labels = [Label(page, attribute, one.text, one.node.xpath if pinned else None) for one in found]
    return labels or [Label(page, attribute, None)]


def _replace(site: OpenSite, page: str, labels: Mapping[str, Sequence[Label]]) -> Change:
    with site.writing:
        before = [given.id for given in site.labels(page) if given.label.attribute in labels]
        new = [label for group in labels.values() for label in group]
        ids = site.catalog.add_labels(site.name, new, site.desk.by) if new else []
        unwanted = [id for id in before if id not in ids]
        for id in unwanted:
            site.catalog.remove_label(id, site.desk.by)
    site.desk.changes.tell(site.name)
    return Change(tuple(id for id in ids if id not in before), tuple(unwanted))
