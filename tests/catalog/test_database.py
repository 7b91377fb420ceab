"""Opening a catalog: one that is older is brought up to date, one that cannot be used is refused in one line."""

from __future__ import annotations

import re
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from untemplate import Catalog, CatalogError, MissingExtra, Rules
from untemplate.catalog import database as database_module
from untemplate.catalog.database import Database
from untemplate.catalog.sql_tables import metadata
from untemplate.output.quality import CrawlTally

SITE = "books.example"
CURRENT = [database_module.FIRST_MIGRATION, *database_module.MIGRATIONS]


def refused(where: str | Path, **options: bool) -> str:
    with pytest.raises(CatalogError) as error:
        Catalog.open(where, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_opened_catalog_has_all_tables_and_names(where: str) -> None:
    Catalog.open(where).close()
    Catalog.open(where, create=False).close()
    database = Database(where)
    with database.read() as connection:
        assert set(inspect(connection).get_table_names()) == set(metadata.tables)
        assert applied(connection) == CURRENT
    database.close()


def applied(connection: Connection) -> list[str]:
    return list(connection.scalars(text("SELECT name FROM catalog_migrations ORDER BY applied")))


def test_an_older_catalog_gets_the_steps_it_lacks(
    where: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Catalog.open(where) as older:
        older.save_rules(SITE, rules)
    done = []
    known = database_module.MIGRATIONS

    def add_column(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE sites ADD COLUMN motto TEXT"))
        connection.execute(text("UPDATE sites SET motto = 'read'"))
        done.append("motto")

    def fail(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE sites ADD COLUMN color TEXT"))
        connection.execute(text("ALTER TABLE nowhere ADD COLUMN x TEXT"))

    monkeypatch.setattr(
        database_module, "MIGRATIONS", {**known, "sites have mottos": add_column, "bad": fail}
    )
    assert "nowhere" in refused(where)
    monkeypatch.setattr(database_module, "MIGRATIONS", {**known, "sites have mottos": add_column})
    with Catalog.open(where) as catalog:
        assert catalog.rules(SITE) == rules
        with catalog._database.read() as connection:
            assert connection.scalar(text("SELECT motto FROM sites")) == "read"
            assert "color" not in [column["name"] for column in inspect(connection).get_columns("sites")]
            assert applied(connection) == [*CURRENT, "sites have mottos"]
    assert done == ["motto"]

    monkeypatch.setattr(database_module, "MIGRATIONS", known)
    assert "written by a newer untemplate (sites have mottos); upgrade this one" in refused(where)


def test_a_catalog_of_the_first_release_gets_rounds(where: str, rules: Rules) -> None:
    with Catalog.open(where) as older, older._database.write() as connection:
        for statement in (
            "ALTER TABLE sites DROP COLUMN watch_hours",
            "DROP TABLE rounds",
            "DROP TABLE claims",
            "DROP INDEX runs_of_a_kind",
            "DELETE FROM catalog_migrations WHERE name IN ('rounds over all sites', 'claims of sites')",
        ):
            connection.execute(text(statement))
    with Catalog.open(where) as catalog:
        catalog.save_rules(SITE, rules)
        catalog.set_watch_hours(SITE, 6)
        [status] = catalog.statuses()
        assert status.watch_hours == 6
        with catalog.claim(SITE, "watch"):
            pass
        with catalog._database.read() as connection:
            assert applied(connection) == CURRENT
            assert "runs_of_a_kind" in [index["name"] for index in inspect(connection).get_indexes("runs")]


def test_several_may_make_it_at_a_time(where: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        catalogs = list(pool.map(lambda _: Catalog.open(where), range(8)))
    runs = [catalog.start_run(SITE, "watch") for catalog in catalogs]
    assert len(set(runs)) == 8
    for catalog in catalogs:
        catalog.close()


def test_several_may_write_at_a_time(where: str, rules: Rules) -> None:
    small = Rules(rules.schema, rules.wrappers[:1])
    with Catalog.open(where) as catalog, ThreadPoolExecutor(6) as pool:
        numbers = list(pool.map(lambda n: catalog.save_rules(f"{n % 2}.example", small), range(24)))
        assert sorted(numbers) == sorted([*range(1, 13)] * 2)
        assert [version.number for version in catalog.history("0.example")] == [*range(1, 13)]


def test_a_write_that_fails_leaves_nothing(where: str, rules: Rules) -> None:
    with Catalog.open(where) as catalog:
        with pytest.raises(KeyError):
            catalog.save_rules(SITE, rules, to_label={"no such cluster": ["1"]})
        assert catalog.sites() == []
        assert catalog.save_rules(SITE, rules) == 1


def test_a_reader_sees_what_was_written_before_it_began(where: str, rules: Rules) -> None:
    with Catalog.open(where) as writer, Catalog.open(where) as reader:
        writer.save_rules(SITE, rules)
        assert reader.rules(SITE) == rules


def test_a_file_as_databases_should_be(tmp_path: Path) -> None:
    with Catalog.open(tmp_path / "a.db") as catalog, catalog._database.read() as connection:
        ask = connection.exec_driver_sql
        assert ask("PRAGMA journal_mode").scalar() == "wal"
        assert ask("PRAGMA synchronous").scalar() == 2
        assert ask("PRAGMA foreign_keys").scalar() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_what_is_no_catalog_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<p>" * 1000)
    assert "page.html: the catalog cannot be used: file is not a database" in refused(tmp_path / "page.html")
    assert "unable to open database file" in refused(tmp_path)
    assert "unable to open database file" in refused(tmp_path / "none" / "a.db")
    assert "a.db: no such catalog" in refused(tmp_path / "a.db", create=False)
    assert not (tmp_path / "a.db").exists()
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE cookies (name)")
    other.close()
    assert "contains other tables, such as cookies" in refused(tmp_path / "other.db")
    (tmp_path / "empty.db").touch()
    assert "not a catalog" in refused(tmp_path / "empty.db", create=False)
    assert "needs a file name" in refused("")


def test_what_is_no_database_is_refused_without_its_password() -> None:
    for url in (
        "mysql://ada:secret@host/x",
        "postgresql+asyncpg://ada:secret@host/x",
        "http://ada:secret@host/x",
    ):
        assert refused(url).endswith("a catalog is a SQLite file, or at postgresql://user@host/database")
        assert "secret" not in refused(url)
    said = refused("postgresql://ada:secret@localhost:1/x")
    assert said.startswith("postgresql://ada:***@localhost:1/x: the catalog cannot be used: connection")
    assert "secret" not in said
    assert refused("postgresql://ada:secret@host:port/x").startswith("not the URL of a catalog")


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'untemplate[postgres]'")):
        Catalog.open("postgresql://localhost/x")


def test_a_damaged_file_is_one_line(tmp_path: Path, rules: Rules) -> None:
    path = tmp_path / "a.db"
    with Catalog.open(path) as catalog:
        for _ in range(20):
            catalog.save_rules(SITE, rules)
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 12288)
    path.write_bytes(content)
    with pytest.raises(CatalogError, match="malformed"), Catalog.open(path) as catalog:
        catalog.rules(SITE)


def test_a_damaged_date_is_one_line_when_something_is_written(tmp_path: Path, rules: Rules) -> None:
    path = tmp_path / "a.db"
    with Catalog.open(path) as catalog:
        catalog.save_rules(SITE, rules)
    with sqlite3.connect(path) as connection:
        connection.execute("update versions set saved = x'ff00'")
    with pytest.raises(CatalogError, match=r"a\.db: the catalog is damaged"), Catalog.open(path) as catalog:
        catalog.finish_crawl(SITE, CrawlTally())
