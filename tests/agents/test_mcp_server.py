"""The MCP server, driven by the client of the official SDK: in this process, over standard streams, over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server.mcpserver import MCPServer

from tests.labeling.book_pages import BOOKS, book_pages
from untemplate import Page
from untemplate.agents.mcp_server import make_server
from untemplate.agents.sandbox import Sandbox

TOOLS = {
    *("list_sources", "list_templates", "show_page", "learn_rules", "extract_records", "find_rows"),
    *("watch_rules", "heal_rules", "explain_rules"),
}
ATTRIBUTES = [
    {"name": "title", "mandatory": True},
    {"name": "author"},
    {"name": "publisher"},
    {"name": "price", "type": "price"},
]


def redesigned(page: Page) -> bytes:
    """Return the page of a book with other tags and classes."""
    html = page.text.replace('class="book"', 'class="item-view"').replace("h1>", "h2>")
    html = re.sub(r"<table>(.*)</table>", r"<ul>\1</ul>", html, flags=re.S)
    html = html.replace("<tr>", "<li>").replace("</tr>", "</li>").replace("td>", "span>")
    html = html.replace('<p class="cost">Price: <b>', '<div class="offer">Now only <em>')
    html = html.replace("</b></p>", "</em></div>").replace('class="author"', 'class="who"')
    return html.replace(">by <", ">Written by <").encode()


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder with a site before and after a redesign, and a list page."""
    for name, change in (("old", lambda page: page.html), ("new", redesigned)):
        (tmp_path / "sites" / name).mkdir(parents=True)
        for page in book_pages():
            (tmp_path / "sites" / name / page.id).write_bytes(change(page))
    rows = "".join(f"<li><h3>{title}</h3><b>{price}</b></li>" for title, _, _, price in BOOKS)
    (tmp_path / "sites" / "lists").mkdir()
    (tmp_path / "sites" / "lists" / "all.html").write_text(f"<h1>All books</h1><ul>{rows}</ul>", "utf-8")
    (tmp_path / "secret.html").write_text("<p>secret", "utf-8")
    return tmp_path


class Agent:
    """Calls tools and checks that answers are small and typed."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        assert len(json.dumps(result.structured_content)) < 30_000
        return result.structured_content

    async def fail(self, tool: str, /, **arguments: Any) -> str:
        """Return the message of a call that fails."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        text = str(result.content[0].text)  # type: ignore[union-attr]
        assert "Traceback" not in text
        return text


def converse(
    folders: Path, conversation: Callable[[Agent], Coroutine[Any, Any, None]], *, over_stdio: bool = False
) -> None:
    """Hold a conversation with a server in this process, or with the command as clients start it."""
    server: MCPServer[None] | StdioServerParameters
    if over_stdio:
        command = ("-c", "import sys; from untemplate.cli import main; sys.exit(main(sys.argv[1:]))", "mcp")
        server = StdioServerParameters(
            command=sys.executable,
            args=[*command, str(folders / "sites"), "--work", str(folders / "work")],
            env={"PYTHONPATH": ":".join(sys.path)},
        )
    else:
        server = make_server(Sandbox([folders / "sites"], folders / "work"))

    async def run() -> None:
        async with Client(server) as client:
            await conversation(Agent(client))

    anyio.run(run)


def number_of(nodes: str, text: str) -> int:
    """Return the number of the node with this text, as an agent reads it."""
    [number, *_] = re.findall(rf"\[(\d+)\] {re.escape(text)}(?=\n|$| \[| \w+[. ])", nodes)
    return int(number)


def test_from_pages_to_records_and_healed_rules(folders: Path) -> None:
    async def conversation(agent: Agent) -> None:
        listed = await agent.client.list_tools()
        assert {tool.name for tool in listed.tools} == TOOLS
        assert all(tool.description and tool.output_schema for tool in listed.tools)

        sources = await agent.call("list_sources")
        [source] = [name for name in sources["sources"] if name.endswith("old")]
        [template] = (await agent.call("list_templates", source=source))["templates"]
        assert template["pages"] == len(BOOKS)

        labels = []
        for page in [*template["label_these"], "0.html", "1.html"][:2]:
            view = await agent.call("show_page", source=source, page=page)
            assert view["tokens"] < 3_000
            book = BOOKS[int(page[0])]
            for attribute, text in zip(ATTRIBUTES, book, strict=True):
                number = number_of(view["untrusted_nodes"].partition("\n")[2], text)
                labels.append({"page": page, "attribute": attribute["name"], "node": number})
        learned = await agent.call(
            "learn_rules", source=source, name="books", attributes=ATTRIBUTES, labels=labels
        )
        assert learned["next_step"] == "the rules fit: extract_records"
        assert all(one["fits_labels"] for one in learned["attributes"])

        extracted = await agent.call("extract_records", source=source, name="books", limit=3, offset=1)
        assert extracted["records"] == len(BOOKS)
        assert [row["title"] for row in extracted["untrusted_rows"]] == [[book[0]] for book in BOOKS[1:4]]
        assert extracted["with_value"] == {"title": 8, "author": 8, "publisher": 8, "price": 8}
        assert Path(extracted["file"]).parent == folders / "work"
        assert "The Clockmaker" in Path(extracted["file"]).read_text("utf-8")

        words = await agent.call("explain_rules", name="books")
        assert "title" in words["attributes"]["c1"]

        assert (await agent.call("watch_rules", source=source, name="books"))["holds"]
        fresh = source.removesuffix("old") + "new"
        watched = await agent.call("watch_rules", source=fresh, name="books")
        assert not watched["holds"]
        assert watched["untrusted_alarms"]
        healed = await agent.call("heal_rules", source=fresh, name="books", save_as="books-2")
        assert healed["repaired"]
        assert not healed["lost"]
        records = await agent.call("extract_records", source=fresh, name="books-2", limit=8)
        found = [
            tuple(row[attribute["name"]][0] for attribute in ATTRIBUTES) for row in records["untrusted_rows"]
        ]
        assert found == list(BOOKS)

    converse(folders, conversation, over_stdio=True)


def test_labels_that_do_not_fit_lead_to_the_page(folders: Path) -> None:
    async def conversation(agent: Agent) -> None:
        labels = [
            {"page": f"{number}.html", "attribute": "author", "text": BOOKS[number][1 if number else 2]}
            for number in range(4)
        ]
        learned = await agent.call(
            "learn_rules", source="old", name="b", attributes=[{"name": "author"}], labels=labels
        )
        [author] = learned["attributes"]
        assert not author["fits_labels"]
        assert author["look_at"]
        assert "correct the labels of author" in learned["next_step"]
        corrected = {"page": "0.html", "attribute": "author", "text": BOOKS[0][1]}
        again = await agent.call("learn_rules", source="old", name="b", labels=[corrected])
        assert again["labels"] == 4
        assert again["attributes"][0]["fits_labels"]

    converse(folders, conversation)


def test_rows_of_a_list_page(folders: Path) -> None:
    async def conversation(agent: Agent) -> None:
        found = await agent.call("find_rows", source="lists", page="all.html", offset=2, limit=2)
        assert found["rows"] == len(BOOKS)
        assert [row["title"] for row in found["untrusted_rows"]] == [BOOKS[2][0], BOOKS[3][0]]
        view = await agent.call("show_page", source="lists", page="all.html", as_list=True)
        assert "row 8:" in view["untrusted_nodes"]

    converse(folders, conversation)


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("list_templates", {"source": "../secret.html"}, "no such source"),
    ("list_templates", {"source": "/etc"}, "no such source"),
    ("list_templates", {"source": "old/../../secret.html"}, "no such source"),
    ("list_templates", {"source": "a\0b"}, "no such source"),
    ("list_templates", {"source": "link"}, "no such source"),
    ("list_templates", {"source": "http://127.0.0.1/"}, "may not fetch"),
    ("list_templates", {"source": "x" * 5_000}, "at most 2000"),
    ("list_templates", {"source": 7}, "valid string"),
    ("list_templates", {}, "required"),
    ("show_page", {"source": "old", "page": "../../secret.html"}, "no page"),
    ("show_page", {"source": "old", "page": "0.html", "first_node": 10**30}, "less than or equal"),
    ("find_rows", {"source": "old", "page": "0.html", "limit": 10**9}, "less than or equal"),
    ("find_rows", {"source": "old", "page": "0.html", "offset": -1}, "greater than or equal"),
    ("extract_records", {"source": "old", "name": "../x"}, "not a name"),
    ("extract_records", {"source": "old", "name": "unknown"}, "no rules of this name"),
    ("explain_rules", {"name": "/etc/passwd"}, "not a name"),
    ("heal_rules", {"source": "old", "name": "unknown", "save_as": "../x"}, "not a name"),
    ("learn_rules", {"source": "old", "name": "b", "labels": []}, "no attributes"),
    ("no_such_tool", {}, "no_such_tool"),
]


def test_hostile_arguments_are_answered_with_errors(folders: Path) -> None:
    (folders / "sites" / "link").symlink_to(folders / "secret.html")

    async def conversation(agent: Agent) -> None:
        for name, arguments, message in HOSTILE:
            assert message in await agent.fail(name, **arguments), (name, arguments)
        assert (await agent.call("list_templates", source="old"))["pages"] == len(BOOKS)

    converse(folders, conversation)


UNUSABLE_LABELS: list[tuple[dict[str, Any], str]] = [
    ({"page": "99.html", "attribute": "author", "node": 3}, "no page '99.html'"),
    ({"page": "0.html", "attribute": "isbn", "node": 3}, "none of the attributes: author"),
    ({"page": "0.html", "attribute": "author", "node": 999_999}, "node numbers that are not on the page"),
    ({"page": "0.html", "attribute": "author", "node": 2, "text": "Zorro"}, "not in their node"),
    ({"page": "0.html", "attribute": "author"}, "give a node, a text, or absent"),
    ({"page": "0.html", "attribute": "author", "script": "x"}, "Extra inputs"),
]


def test_labels_that_cannot_be_used(folders: Path) -> None:
    async def conversation(agent: Agent) -> None:
        fixed: dict[str, Any] = {"source": "old", "name": "b", "attributes": [{"name": "author"}]}
        for label, message in UNUSABLE_LABELS:
            assert message in await agent.fail("learn_rules", labels=[label], **fixed)

    converse(folders, conversation)
    assert list((folders / "work").iterdir()) == []


def test_files_that_link_outside_are_left_out(folders: Path) -> None:
    (folders / "sites" / "old" / "9.html").symlink_to(folders / "secret.html")

    async def conversation(agent: Agent) -> None:
        templates = await agent.call("list_templates", source="old")
        assert templates["pages"] == len(BOOKS)
        assert "a link to outside of the folders (9.html)" in templates["pages_left_out"]

    converse(folders, conversation)


def test_lists_of_urls_are_not_fetched(folders: Path) -> None:
    (folders / "sites" / "urls.txt").write_text("http://books.example/1\n", "utf-8")

    async def conversation(agent: Agent) -> None:
        assert "host is not among those that may be fetched" in await agent.fail(
            "list_templates", source="urls.txt"
        )

    converse(folders, conversation)


def test_over_http_with_a_token(folders: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    command = [
        *(sys.executable, "-c", "import sys; from untemplate.cli import main; sys.exit(main(sys.argv[1:]))"),
        *("mcp", str(folders / "sites"), "--work", str(folders / "work"), "--http"),
    ]
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout
    assert process.stderr
    try:
        url = process.stdout.readline().strip()
        header, _, value = process.stderr.readline().strip().partition(": ")
        assert url.startswith("http://127.0.0.1:")

        async def talk() -> None:
            await wait_for(url)
            async with (
                httpx2.AsyncClient(headers={header: value}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                sources = await Agent(client).call("list_sources")
                assert str(folders / "sites" / "old") in sources["sources"]
            async with httpx2.AsyncClient() as stranger:
                assert (await stranger.post(url, json={})).status_code == 401
                wrong = {"Authorization": "Bearer x"}
                assert (await stranger.post(url, json={}, headers=wrong)).status_code == 401
                rebound = {header: value, "Host": "evil.example"}
                assert (await stranger.post(url, json={}, headers=rebound)).status_code == 421

        anyio.run(talk)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        process.stderr.close()


async def wait_for(url: str) -> None:
    """Wait until the server answers."""
    import httpx2

    for _ in range(100):
        try:
            async with httpx2.AsyncClient() as client:
                await client.get(url)
                return
        except httpx2.ConnectError:
            await anyio.sleep(0.1)
