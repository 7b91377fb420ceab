"""Groups of similar parts of a page, found by repetition: the candidates for its records.

As in MDR, a record is a run of adjacent siblings, mostly of one. Elements in the same context (the same tags
and classes around them) with similar shapes form a group, whatever their parents are, so that the rows of a
grid or the sections of a list form one group. Runs of several siblings are found where siblings of different
shapes alternate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import BREAK, TEXT, PageTree, Run, Shapes

__all__ = ["Group", "drop_hidden_members", "dropped_members", "find_groups"]

# Members of a group are at least this similar. The groups of all thresholds compete.
SIMILARITIES = (0.0, 0.4, 0.65)
# Different shapes per context. Rows that are similar to none of them are ignored.
MAX_SHAPES = 8
# Kinds of siblings that are tried as the first of a run, and the least mean similarity of neighboring runs.
MAX_RUN_HEADS = 3
MIN_RUN_SIMILARITY = 0.6
# Runs of one length that show how the siblings around them go on.
MIN_EQUAL_RUNS = 3
# These tags are never records.
_NEVER_RECORDS = frozenset(
    {"html", "body", "head", "option", "optgroup", "br", "thead", "tfoot", "tbody", "colgroup"}
)
_BOLD = frozenset({"th", "b", "strong"})


@dataclass(frozen=True)
class Group:
    """Parts of a page that look as if one template made them, in page order."""

    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)


def find_groups(tree: PageTree, shapes: Shapes) -> list[Group]:
    """Return every group of two or more members, without duplicates.

    Three kinds of groups compete: elements in the same context, elements with the same tag and class wherever they
    are, and runs of siblings. The first two are split by shape, once for each threshold of similarity.
    """
    may_be_record = _possible_records(tree)
    by_context = _rows_by_context(tree, may_be_record)
    by_class = [*_rows_by_class(tree, may_be_record), *_innermost_by_class(tree, may_be_record)]
    by_tags = _rows_by_tags(tree, may_be_record)
    groups: list[tuple[int, ...]] = []
    kinds: dict[int, int] = {}
    for threshold in SIMILARITIES:
        groups += map(tuple, _split_all(by_class, shapes, threshold))
        if threshold:
            groups += map(tuple, _split_all(by_tags, shapes, threshold))
        similar = list(_split_all(by_context, shapes, threshold))
        groups += [tuple(rows) for rows in similar if may_be_record[rows[0]]]
        kinds |= _number_kinds(similar)
    # Thousands of groups share their rows, so each run of one row is made once.
    single_rows = [(row,) for row in range(len(tree))]
    singles = (tuple([single_rows[row] for row in rows]) for rows in dict.fromkeys(groups))
    runs = _find_all_runs(tree, kinds)
    return [Group(members) for members in chain(singles, dict.fromkeys(runs)) if len(members) > 1]


def _number_kinds(similar: Iterable[Sequence[int]]) -> dict[int, int]:
    """Return the number of its kind for each row, from 1: rows that are together are of one kind."""
    kinds: dict[int, int] = {}
    for kind, rows in enumerate(similar, 1):
        kinds |= dict.fromkeys(rows, kind)
    return kinds


def _find_all_runs(tree: PageTree, kinds: Mapping[int, int]) -> list[tuple[Run, ...]]:
    """Return the groups of runs of siblings; rows without a kind are of kind 0."""
    runs: list[tuple[Run, ...]] = []
    for siblings in tree.children.values():
        children = [row for row in siblings if tree.tags[row] != BREAK]
        runs += _find_runs(children, [kinds.get(row, 0) for row in children])
    return runs


def _possible_records(tree: PageTree) -> list[bool]:
    """Return which rows may be records: elements with siblings.

    Header rows of tables are none, and neither are plain table cells and tags such as `body` or `option`.
    """
    has_siblings: list[bool] = []
    for parent in tree.parent.tolist():
        # An only child is the same record as its parent, unless the parent cannot be one.
        has_siblings.append(tree.tags[parent] in _NEVER_RECORDS or len(tree.children[parent]) > 1)
    # Or unless others like it have siblings: it is the only one of its day, court or category.
    repeated = {path for path, has in zip(tree.path_ids, has_siblings, strict=True) if has}
    possible = [
        tag != TEXT and tag not in _NEVER_RECORDS and path in repeated
        for tag, path in zip(tree.tags, tree.path_ids, strict=True)
    ]
    for row in (*_header_rows(tree), *_plain_cells(tree)):
        possible[row] = False
    return possible


def _plain_cells(tree: PageTree) -> list[int]:
    """Return the table cells with at most one text and no link: parts of a record, which is the table row."""
    texts = tree.total(tree.has_tag({TEXT}).astype(np.float64))
    links = tree.total(tree.has_tag({"a"}).astype(np.float64))
    is_plain = tree.has_tag({"td"}) & (texts <= 1) & (links == 0)
    return [row for row in np.flatnonzero(is_plain).tolist() if len(tree.children[int(tree.parent[row])]) > 1]


def _header_rows(tree: PageTree) -> Iterator[int]:
    """Yield table rows of `th` cells in tables with `td` cells, and first rows if only they are all bold."""
    is_bold = tree.depth(tree.has_tag(_BOLD)) > 0
    plain_texts = tree.total((tree.has_tag({TEXT}) & ~is_bold).astype(np.float64))
    for rows in _table_rows(tree).values():
        yield from _rows_of_header_cells(tree, rows)
        first, *others = rows
        is_bold_row = len(tree.children[first]) > 1 and not plain_texts[first]
        if is_bold_row and plain_texts[others].all():
            yield first


def _rows_of_header_cells(tree: PageTree, rows: Sequence[int]) -> list[int]:
    """Return the rows of a table that have only `th` cells, if other rows have `td` cells."""
    cell_tags = {row: {tree.tags[child] for child in tree.children[row]} for row in rows}
    if "td" not in set[str]().union(*cell_tags.values()):
        return []
    return [row for row, tags in cell_tags.items() if tags == {"th"}]


def _table_rows(tree: PageTree) -> dict[int, list[int]]:
    """Group the `tr` elements by their parent."""
    tables: dict[int, list[int]] = {}
    for row in np.flatnonzero(tree.has_tag({"tr"})).tolist():
        tables.setdefault(int(tree.parent[row]), []).append(row)
    return tables


def _rows_by_context(tree: PageTree, may_be_record: Sequence[bool]) -> list[list[int]]:
    """Group possible records and texts by their tag and the tags and classes of their ancestors."""
    rows: dict[tuple[int, str], list[int]] = {}
    for row, (tag, parent) in enumerate(zip(tree.tags, tree.parent.tolist(), strict=True)):
        if may_be_record[row] or tag == TEXT:
            context = tree.path_ids[parent] if parent >= 0 else -1
            rows.setdefault((context, tag), []).append(row)
    return list(rows.values())


def _rows_by_tags(tree: PageTree, may_be_record: Sequence[bool]) -> list[list[int]]:
    """Group possible records by their tags from the root down, whatever the classes around them are."""
    ids: dict[tuple[int, str], int] = {}
    paths: list[int] = []
    rows: dict[tuple[int, str], list[int]] = {}
    for row, (tag, parent) in enumerate(zip(tree.tags, tree.parent.tolist(), strict=True)):
        above = paths[parent] if parent >= 0 else -1
        paths.append(ids.setdefault((above, tag), len(ids)))
        if may_be_record[row]:
            rows.setdefault((paths[-1], tree.classes[row]), []).append(row)
    return _repeated(rows.values())


def _rows_by_class(tree: PageTree, may_be_record: Sequence[bool]) -> list[list[int]]:
    """Group possible records by their tag and each of their classes; rows inside a member are ignored."""
    rows: dict[tuple[str, str], list[int]] = {}
    ends = tree.end.tolist()
    for row in np.flatnonzero(may_be_record).tolist():
        for name in dict.fromkeys(tree.classes[row].split()):
            members = rows.setdefault((tree.tags[row], name), [])
            if not members or ends[members[-1]] <= row:
                members.append(row)
    return _repeated(rows.values())


def _innermost_by_class(tree: PageTree, may_be_record: Sequence[bool]) -> list[list[int]]:
    """Group possible records by their tag and class where some are nested; rows around a member are ignored."""
    rows: dict[tuple[str, str], list[int]] = {}
    nested: set[tuple[str, str]] = set()
    ends = tree.end.tolist()
    for row in np.flatnonzero(may_be_record).tolist():
        for name in dict.fromkeys(tree.classes[row].split()):
            members = rows.setdefault((tree.tags[row], name), [])
            while members and ends[members[-1]] > row:
                members.pop()
                nested.add((tree.tags[row], name))
            members.append(row)
    return _repeated(rows[key] for key in sorted(nested))


def _repeated(sets: Iterable[list[int]]) -> list[list[int]]:
    return [rows for rows in sets if len(rows) > 1]


def _split_all(sets: Iterable[list[int]], shapes: Shapes, threshold: float) -> Iterator[list[int]]:
    for rows in sets:
        yield from _split_by_shape(rows, shapes, threshold)


def _split_by_shape(rows: Sequence[int], shapes: Shapes, threshold: float) -> list[list[int]]:
    """Split rows into sets of similar shape.

    Each row joins the set whose first row is the most similar. If none is similar enough, it starts a set of
    its own, as long as there are fewer than MAX_SHAPES.
    """
    if threshold == 0:
        return [list(rows)]
    sets: list[list[int]] = []
    set_of_code: dict[int, list[int]] = {}
    for row in rows:
        code = shapes.codes[row]
        if code not in set_of_code:
            members = _most_similar(sets, row, shapes, threshold)
            if members is None and len(sets) < MAX_SHAPES:
                members = []
                sets.append(members)
            if members is None:
                continue
            set_of_code[code] = members
        set_of_code[code].append(row)
    return sets


def _most_similar(sets: Sequence[list[int]], row: int, shapes: Shapes, threshold: float) -> list[int] | None:
    best = max(sets, key=lambda members: shapes.similarity(members[0], row), default=None)
    if best is None or shapes.similarity(best[0], row) < threshold:
        return None
    return best


def _find_runs(children: Sequence[int], kinds: Sequence[int]) -> Iterator[tuple[Run, ...]]:
    """Yield the ways to split siblings into similar runs that begin with the same kind of sibling.

    Args:
        children: the rows of the siblings.
        kinds: the kind of each, equal for siblings in the same context with similar shapes.
    """
    counts = Counter(kinds)
    if len(counts) < 2:
        return
    heads = [kind for kind, count in counts.most_common() if count > 1]
    for head in heads[:MAX_RUN_HEADS]:
        runs = _continue_runs(_split_at(head, kinds), kinds)
        if _are_similar_runs([kinds[run.start : run.stop] for run in runs]):
            yield tuple(tuple(children[run.start : run.stop]) for run in runs)


def _split_at(head: int, kinds: Sequence[int]) -> list[range]:
    """Split siblings before each one of this kind. The last run ends where it gets too long or too different."""
    starts = [index for index, kind in enumerate(kinds) if kind == head]
    runs = [range(start, stop) for start, stop in pairwise(starts)]
    usual = set(kinds[starts[0] : starts[-1]])
    last = starts[-1]
    limit = min(last + max(map(len, runs)), len(kinds))
    end = last + 1
    while end < limit and kinds[end] in usual:
        end += 1
    return [*runs, range(last, end)]


def _continue_runs(runs: Sequence[range], kinds: Sequence[int]) -> list[range]:
    """Add runs before and after equally long ones if only their first sibling is of another kind.

    The first row of a record may lack a link, and so look different.
    """
    length, rest = len(runs[0]), kinds[runs[0].start + 1 : runs[0].stop]
    if length == 1 or len(runs) < MIN_EQUAL_RUNS or any(len(run) != length for run in runs):
        return list(runs)

    def continues(start: int) -> bool:
        return start >= 0 and kinds[start + 1 : start + length] == rest

    before, after = runs[0].start, runs[-1].stop
    while continues(before - length):
        before -= length
    while continues(after):
        after += length
    return [range(start, start + length) for start in range(before, after, length)]


def _are_similar_runs(runs: Sequence[Sequence[int]]) -> bool:
    """Return True if most runs have several siblings and neighboring runs contain similar kinds."""
    if sum(len(run) > 1 for run in runs) * 2 <= len(runs):
        return False
    kind_sets = [set(run) for run in runs]
    similarities = [2 * len(left & right) / (len(left) + len(right)) for left, right in pairwise(kind_sets)]
    return sum(similarities) / len(similarities) >= MIN_RUN_SIMILARITY


def drop_hidden_members(profile: PageProfile, group: Group) -> Group:
    """Return a group without members that only look like records of the page.

    These are members that are hidden while others are shown, members in parts such as "related", duplicates, as in a
    carousel, and headings between the others. If fewer than two members would remain, hidden and related ones stay.
    """
    unique = _without_duplicates(profile, _visible_members(profile, group.runs))
    return Group(_without_headings(profile, unique))


def dropped_members(profile: PageProfile, group: Group) -> Group:
    """Return the members that are hidden or in parts such as "related": they may form a list of their own."""
    visible = set(_visible_members(profile, group.runs))
    return Group(tuple(run for run in group.runs if run not in visible))


def _visible_members(profile: PageProfile, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    shown = tuple(run for run in runs if profile.shown[run[0]])
    if len(shown) > 1:
        more = {*_folded_members(profile, runs, shown)} if len(shown) < len(runs) else set()
        runs = tuple(run for run in runs if profile.shown[run[0]] or run in more)
    central = _central_members(profile, runs)
    return central if len(central) > 1 else runs


def _folded_members(profile: PageProfile, runs: Sequence[Run], shown: Sequence[Run]) -> Iterator[Run]:
    """Yield hidden runs that a click on "Show more" would show.

    Only a class hides them, and the part that has it follows a sibling with the same tag and a common class that
    contains a shown run.
    """
    tree = profile.tree
    first_shown: dict[tuple[int, str, str], int] = {}
    for row in sorted(_rows_and_ancestors(tree, [run[0] for run in shown])):
        for name in tree.classes[row].split():
            first_shown.setdefault((int(tree.parent[row]), tree.tags[row], name), row)
    for run in runs:
        if profile.shown[run[0]] or not profile.displayed[run[0]]:
            continue
        hidden = _outermost_hidden(profile, run[0])
        place = int(tree.parent[hidden]), tree.tags[hidden]
        names = tree.classes[hidden].split()
        if any(first_shown.get((*place, name), hidden) < hidden for name in names):
            yield run


def _rows_and_ancestors(tree: PageTree, rows: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for row in rows:
        while row >= 0 and row not in found:
            found.add(row)
            row = int(tree.parent[row])
    return found


def _outermost_hidden(profile: PageProfile, row: int) -> int:
    """Return the highest of a hidden row and its ancestors that is hidden."""
    parent = int(profile.tree.parent[row])
    while parent >= 0 and not profile.shown[parent]:
        row, parent = parent, int(profile.tree.parent[parent])
    return row


def _central_members(profile: PageProfile, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return runs that are not, together with others, in a part such as "related".

    If half of the runs or more are in such parts, the list itself has such a name, and all runs stay.
    """
    parents = profile.tree.parent[[run[0] for run in runs]].tolist()
    counts = Counter(parents)
    is_aside = [bool(profile.aside[parent]) and counts[parent] > 1 for parent in parents]
    if sum(is_aside) * 2 >= len(runs):
        return runs
    return tuple(run for run, aside in zip(runs, is_aside, strict=True) if not aside)


def _without_headings(profile: PageProfile, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return runs without the headings among them, such as years.

    A heading is a single text without a link. All other runs must have a link and more texts, and they must be at
    least twice as many. Otherwise all runs stay.
    """
    linked = [profile.hints.has_links(run[0], int(profile.tree.end[run[-1]])) for run in runs]
    texts = [profile.texts[list(run)].sum() for run in runs]
    records = tuple(
        run for run, has_link, count in zip(runs, linked, texts, strict=True) if has_link and count > 1
    )
    headings = [count == 1 and not has_link for has_link, count in zip(linked, texts, strict=True)]
    is_mixed = len(records) + sum(headings) == len(runs)
    return records if is_mixed and len(records) >= max(2, 2 * sum(headings)) else runs


def _without_duplicates(profile: PageProfile, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Return the first of the runs that have the same texts and the same links. Runs without links all stay."""
    unique: dict[Hashable, Run] = {}
    for run in runs:
        links = _links_inside(profile.tree, run)
        span = profile.codes_before[[run[0], profile.tree.end[run[-1]]]]
        content = (int(np.diff(span)[0]), *links)
        unique.setdefault(content if links else run, run)
    return tuple(unique.values())


def _links_inside(tree: PageTree, run: Run) -> list[str]:
    """Return the addresses of the links to other pages in a run."""
    anchors = (tree.elements[row] for row in tree.rows_inside(run) if tree.tags[row] == "a")
    addresses = filter(None, (anchor.get("href") for anchor in anchors))
    return [address for address in addresses if not address.startswith(("#", "javascript:"))]
