"""Batches of pages into batches of records."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Limits, Page, Record, Rules
from untemplate.demo import Site
from untemplate.engines.worker import PAGE_COLUMNS, extract_batch, page_batch, refuse_batch
from untemplate.extraction import OneSite
from untemplate.output import write_records
from untemplate.output.record_rows import arrow_schema
from untemplate.page import DEFAULT_LIMITS


def extracted(batch: pa.RecordBatch, rules: Rules, limits: Limits = DEFAULT_LIMITS) -> pa.RecordBatch:
    """The records of one site."""
    tables = extract_batch(batch, OneSite(rules), limits).tables
    return tables.get("", pa.RecordBatch.from_pylist([], arrow_schema(rules.schema)))


def test_records_are_those_of_a_record_file(site: Site, rules: Rules, tmp_path: Path) -> None:
    records = extracted(page_batch(site.pages), rules)
    write_records(rules.extract(site.pages), tmp_path / "records.parquet", rules.schema, confidence=True)
    assert pa.Table.from_batches([records]).equals(pq.read_table(tmp_path / "records.parquet"))
    assert records.schema.equals(arrow_schema(rules.schema))


def test_doubtful_values_are_left_out_if_so_asked(site: Site, rules: Rules) -> None:
    batch = extract_batch(page_batch(site.pages), OneSite(rules), min_confidence=1.0)
    records = batch.tables[""].to_pylist()
    expected = [record.without_doubtful(1.0) for record in rules.extract(site.pages)]
    assert [row["name"] for row in records] == [record["name"] for record in expected]
    assert [dict(row["missing"]) for row in records] == [record.missing for record in expected]


def test_only_url_and_html_are_needed(site: Site, rules: Rules) -> None:
    batch = page_batch(site.pages)
    few = extracted(batch.select(["html", "url"]), rules).to_pylist()
    assert [row["page"] for row in few] == [page.url for page in site.pages]
    whole = extracted(batch.append_column("other", pa.nulls(len(batch))), rules).to_pylist()
    assert [row | {"page": ""} for row in few] == [row | {"page": ""} for row in whole]


def test_html_may_be_text(site: Site, rules: Rules) -> None:
    texts = pa.RecordBatch.from_pylist(
        [{"url": page.url, "id": page.id, "html": page.text} for page in site.pages]
    )
    assert extracted(texts, rules).equals(extracted(page_batch(site.pages), rules))


@given(st.lists(st.tuples(st.text(), st.binary(), st.text(), st.none() | st.text()), max_size=5))
def test_every_page_has_its_record(rules: Rules, pages: list[tuple[str, bytes, str, str | None]]) -> None:
    batch = page_batch(Page(url, html, id, charset=charset) for url, html, id, charset in pages)
    assert batch.schema.equals(PAGE_COLUMNS)
    records = extracted(batch, rules)
    assert records["url"].to_pylist() == batch["url"].to_pylist()
    assert all(row["missing"] for row in records.to_pylist())


def test_names_that_are_not_unicode(rules: Rules) -> None:
    records = extracted(page_batch([Page("http://a/\udce9", b"<p>x", "caf\udce9.htm")]), rules)
    assert records["page"].to_pylist() == ["caf?.htm"]


def test_limits_hold_for_each_page(site: Site, rules: Rules) -> None:
    size = max(len(page.html) for page in site.pages)
    big = site.pages[0].html + b" " * size
    pages = [Page(site.pages[0].url, big), *site.pages]
    first, *others = extracted(page_batch(pages), rules, Limits(bytes=size)).to_pylist()
    assert set(dict(first["missing"]).values()) == {
        f"page cannot be read: page is larger than {size:,} bytes"
    }
    assert others == extracted(page_batch(site.pages), rules).to_pylist()


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

    batch = page_batch(site.pages)
    expected = extracted(batch, rules).to_pylist()
    expected[1] = refuse_batch(batch.slice(1, 1), OneSite(rules), reason).tables[""].to_pylist()[0]
    monkeypatch.setattr(Rules, "extract_page", failing)
    assert extracted(batch, rules).to_pylist() == expected
    assert dict(expected[1]["missing"])["name"] == f"page cannot be read: {reason}"
