"""Rules in the making: the newest version, with what the labels given since teach."""

from __future__ import annotations

from untemplate.clustering import Cluster
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.pipeline import Learned, borrow, watchable
from untemplate.rules import Wrapper
from untemplate.watching import remember
from untemplate.web.sites import SAMPLE, OpenSite

__all__ = ["draft", "is_saved", "save"]


def draft(site: OpenSite) -> Rules:
    """The site's rules, those of clusters with new labels as their benches have learnt them."""
    changed = site.fresh_labels()
    wrappers = (
        site.bench(wrapper.cluster).wrapper if changed.get(wrapper.cluster) else wrapper
        for wrapper in site.rules.wrappers
    )
    return Rules(site.schema, tuple(wrappers))


def is_saved(site: OpenSite) -> bool:
    """Whether the newest version is what the labels teach."""
    pairs = zip(draft(site).wrappers, site.rules.wrappers, strict=True)
    return all(new.rules == old.rules for new, old in pairs)


def save(site: OpenSite, note: str = "") -> int:
    """Save the draft as a version; clusters without labels borrow rules that hold on their pages."""
    with site.writing:
        wrappers = draft(site).wrappers
        own = [wrapper for wrapper in wrappers if wrapper.rules and not _is_borrowed(site, wrapper)]
        groups = [_group(site, wrapper) for wrapper in wrappers]
        learned = Learned(site.rules)
        saved = [
            _remembered(site, wrapper, group)
            if wrapper in own
            else borrow(group, groups, own, site.schema, learned)
            for wrapper, group in zip(wrappers, groups, strict=True)
        ]
        rules = Rules(site.schema, tuple(saved))
        version = site.catalog.save_rules(site.name, rules, "learned", note, site.desk.by)
    site.desk.changes.tell(site.name)
    return version


def _is_borrowed(site: OpenSite, wrapper: Wrapper) -> bool:
    """Whether a wrapper's rules are those of another cluster, not learnt from its own labels."""
    if site.labelled_pages(wrapper.cluster):
        return False
    saved = site.wrapper(wrapper.cluster).rules
    return any(one.rules == saved for one in site.rules.wrappers if one.cluster != wrapper.cluster)


def _remembered(site: OpenSite, wrapper: Wrapper, group: Cluster) -> Wrapper:
    """The wrapper with pages to watch, if its rules have changed."""
    if wrapper.rules == site.wrapper(wrapper.cluster).rules:
        return wrapper
    labels: dict[str, list[Label]] = {}
    for given in site.labels():
        labels.setdefault(given.label.page, []).append(given.label)
    labelled = [page for page in group.pages if page.id in labels]
    others = [page for page in group.pages[:SAMPLE] if page.id not in labels]
    watched = watchable(group, labelled, [*labelled, *others])
    return remember(wrapper, watched, site.schema, labels)


def _group(site: OpenSite, wrapper: Wrapper) -> Cluster:
    pages = [site.catalog.page(site.name, id) for id in site.pages[wrapper.cluster]]
    return Cluster(wrapper.cluster, pages, wrapper.signatures, wrapper.importance, wrapper.url_pattern)
