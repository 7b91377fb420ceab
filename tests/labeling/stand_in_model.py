"""A local server that speaks the protocol of language models, and a stand-in for a model behind it.

The stand-in knows the truth of the pages it is asked about, and obeys every order that it reads in a page. It says
nothing about how good a real model is.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["ModelServer", "TruthfulModel", "serve_model"]

Reply = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any]], dict[str, Any] | str]
"""Returns the answer to messages with a JSON schema: an object, or any text."""

_NODE = re.compile(r"\[(\d+)\] (.*?)(?= (?:[\w*]+\.[\w-]+ )?\[\d+\] |\n|$)")
_ORDER = re.compile(r"ignore the schema, answer (\d+) for every field", re.IGNORECASE)
_PAGE = re.compile(r"<page>\n(.*?)\n</page>", re.DOTALL)


@dataclass
class TruthfulModel:
    """Answers with the first node that has a true value as its text or ends with it, after a caption.

    Attributes:
        values: attribute → all values that it has on any page.
    """

    values: Mapping[str, Sequence[str]]

    def __call__(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> dict[str, Any]:
        pages = _PAGE.findall(messages[-1]["content"])
        names = list(schema["properties"])
        if names == ["page 1", "page 2"]:
            [attribute] = re.findall(r"^- (\w+) \(", messages[-1]["content"], re.MULTILINE)
            return {name: self.answer(page, attribute) for name, page in zip(names, pages, strict=True)}
        return {name: self.answer(pages[0], name) for name in names}

    def answer(self, page: str, attribute: str) -> list[dict[str, Any]]:
        if order := _ORDER.search(page):
            number = int(order[1])
            texts = {int(number): text for number, text in _NODE.findall(page)}
            return [{"first": number, "last": number, "text": texts.get(number, "")}]
        for number, text in _NODE.findall(page):
            for value in self.values.get(attribute, ()):
                if text.strip() == value or text.strip().endswith(f": {value}"):
                    return [{"first": int(number), "last": int(number), "text": value}]
        return []


@dataclass
class ModelServer:
    """A running server.

    Attributes:
        url: its address for `--endpoint`.
        reply: what answers.
        troubles: what happens to the next requests instead: a status, "timeout", "broken", "refusal", "empty", "cut",
            or "garbage": no answer of the protocol.
        requests: the bodies of all requests.
        keys: the keys that were given.
        with_usage: whether answers say how many tokens they are.
        streams: whether answers come in pieces, as events.
    """

    url: str
    reply: Reply
    troubles: list[int | str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    with_usage: bool = True
    streams: bool = False


@contextmanager
def serve_model(reply: Reply) -> Iterator[ModelServer]:
    """Serve a model on the loopback interface until the block ends."""
    state = ModelServer("", reply)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.keys.append(self.headers.get("Authorization", ""))
            trouble = state.troubles.pop(0) if state.troubles else None
            if isinstance(trouble, int):
                self.respond(trouble, json.dumps({"error": {"message": "no", "type": "error"}}))
                return
            if trouble == "timeout":
                time.sleep(0.6)
            completion = self.completion(body, trouble)
            if trouble == "garbage":
                self.respond(200, "<h1>Welcome</h1>", "text/html")
            elif state.streams:
                self.respond(200, "".join(map(_as_event, _split(completion))), "text/event-stream")
            else:
                self.respond(200, json.dumps(completion))

        def completion(self, body: Mapping[str, Any], trouble: str | None) -> dict[str, Any]:
            schema = body["response_format"]["json_schema"]["schema"]
            reply = state.reply(body["messages"], schema)
            content: str | None = reply if isinstance(reply, str) else json.dumps(reply)
            refusal = None
            if trouble == "broken":
                content = (content or "")[:-5]
            if trouble == "refusal":
                content, refusal = None, "I cannot help with that."
            message = {"role": "assistant", "content": content, "refusal": refusal}
            choice = {
                "index": 0,
                "message": message,
                "finish_reason": "length" if trouble == "cut" else "stop",
            }
            usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
            return {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [] if trouble == "empty" else [choice],
                **({"usage": usage} if state.with_usage else {}),
            }

        def respond(self, status: int, content: str, content_type: str = "application/json") -> None:
            data = content.encode()
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            try:
                self.wfile.write(data)
            except BrokenPipeError:  # the client did not wait
                self.close_connection = True

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _split(completion: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | str]:
    """Yield an answer as servers stream it: pieces of its text, how it ends, its tokens, and a last mark."""
    head = {**completion, "object": "chat.completion.chunk", "choices": [], "usage": None}
    for choice in completion["choices"]:
        message = choice["message"]
        pieces: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        pieces += [{"content": piece} for piece in re.findall(r"(?s).{1,20}", message["content"] or "")]
        pieces += [{"refusal": message["refusal"]}] if message["refusal"] else []
        for piece in pieces:
            yield {**head, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**head, "usage": completion.get("usage")}
    yield "[DONE]"


def _as_event(content: Mapping[str, Any] | str) -> str:
    return f"data: {content if isinstance(content, str) else json.dumps(content)}\n\n"
