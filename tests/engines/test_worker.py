"""Pages into records: each page has its record, whatever it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Limits, Page, Record, Rules
from untemplate.demo import Site
from untemplate.engines.worker import (
    BATCH_BYTES,
    BATCH_PAGES,
    PageLimits,
    Result,
    Settings,
    batch_pages,
    extract_pages,
    refuse_pages,
)
from untemplate.extraction import OneSite
from untemplate.output import write_records
from untemplate.output.record_rows import BATCH_COLUMNS


def extracted(pages: list[Page], rules: Rules) -> list[Record]:
    """The records of one site."""
    return extract_pages(pages, OneSite(rules)).records.get("", [])


@pytest.mark.parametrize("format", [".jsonl", ".csv"])
def test_records_are_those_of_a_record_file(format: str, site: Site, rules: Rules, tmp_path: Path) -> None:
    path = tmp_path / f"records{format}"
    write_records(rules.extract(site.pages), path, rules.schema, confidence=True)
    extractor = OneSite(rules)
    result = Result()
    result.add(
        extract_pages(site.pages, extractor), Settings(extractor, format, PageLimits(), extras=BATCH_COLUMNS)
    )
    header, _, lines = (
        path.read_bytes().partition(b"\r\n") if format == ".csv" else (b"", b"", path.read_bytes())
    )
    assert result.records[""] == lines
    assert result.tally.records == len(site.pages)
    assert bool(header) == (format == ".csv")


def test_doubtful_values_are_left_out_if_so_asked(site: Site, rules: Rules) -> None:
    records = extract_pages(site.pages, OneSite(rules), min_confidence=1.0).records[""]
    assert records == [record.without_doubtful(1.0) for record in rules.extract(site.pages)]


@given(st.lists(st.tuples(st.text(), st.binary(), st.text(), st.none() | st.text()), max_size=5))
def test_every_page_has_its_record(rules: Rules, pages: list[tuple[str, bytes, str, str | None]]) -> None:
    given_pages = [Page(url, html, id, charset=charset) for url, html, id, charset in pages]
    records = extracted(given_pages, rules)
    assert [record.url for record in records] == [page.url for page in given_pages]
    assert all(record.missing for record in records)


def test_names_that_are_not_unicode(rules: Rules) -> None:
    extractor = OneSite(rules)
    result = Result()
    page = Page("http://a/\udce9", b"<p>x", "caf\udce9.htm")
    result.add(extract_pages([page], extractor), Settings(extractor, ".jsonl", PageLimits()))
    assert b'"page":"caf?.htm"' in result.records[""]


def test_limits_hold_for_each_page(site: Site, rules: Rules) -> None:
    size = max(len(page.html) for page in site.pages)
    settings = Settings(OneSite(rules), ".jsonl", PageLimits(), sizes=Limits(bytes=size))
    pages = [Page(site.pages[0].url, site.pages[0].html + b" " * size), *site.pages]
    first, *others = extracted(list(map(settings.limit_page, pages)), rules)
    assert set(first.missing.values()) == {f"page cannot be read: page is larger than {size:,} bytes"}
    assert others == list(rules.extract(site.pages))


def test_batches_are_limited() -> None:
    small, big = Page(html="<p>x"), Page(html=b"<p>" + b"x" * (BATCH_BYTES // 2))
    assert list(map(len, batch_pages([small] * (BATCH_PAGES + 1)))) == [BATCH_PAGES, 1]
    assert list(map(len, batch_pages([big] * 3))) == [2, 1]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), "page needs too much memory"), (ValueError("odd\npage"), "ValueError: odd page")],
)
def test_an_error_costs_one_record(
    site: Site, rules: Rules, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    usual = Rules.extract_page

    def failing(self: Rules, page: Page) -> list[Record]:
        if page.id == site.pages[1].id:
            raise error
        return usual(self, page)

    expected = extracted(site.pages, rules)
    expected[1] = refuse_pages(site.pages[1:2], OneSite(rules), reason).records[""][0]
    monkeypatch.setattr(Rules, "extract_page", failing)
    assert extracted(site.pages, rules) == expected
    assert expected[1].missing["name"] == f"page cannot be read: {reason}"


def test_what_was_parsed_is_freed(site: Site, rules: Rules) -> None:
    page = Page(site.pages[0].url, site.pages[0].html)
    extract_pages([page], OneSite(rules))
    assert page._native_root is None
    assert not page.is_parsed
