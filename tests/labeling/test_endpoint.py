"""Asking a model: what goes wrong on the way, what is asked again, what is never asked twice, what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.labeling.stand_in_model import ModelServer, serve_model
from untemplate.errors import EndpointError
from untemplate.labeling import endpoint as endpoint_module
from untemplate.labeling.endpoint import AnswerError, Endpoint, Question, TokenPrice, answers_folder

QUESTION = Question("You answer.", "How many?", {"type": "object", "properties": {"count": {}}})
KEY = "sk-very-secret"


def accept(content: dict[str, Any]) -> None:
    if "count" not in content:
        raise ValueError("the answer does not follow the schema")


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def server(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve_model(lambda messages, schema: {"count": 3}) as server:
        server.streams = request.param
        yield server


def test_an_answer_is_asked_once(server: ModelServer, tmp_path: Path) -> None:
    first = Endpoint("small", server.url, tmp_path)
    assert first.ask(QUESTION, accept).content == {"count": 3}
    assert not first.knows(Question("You answer.", "How much?", QUESTION.schema))
    second = Endpoint("small", server.url, tmp_path)
    assert second.knows(QUESTION)
    assert second.ask(QUESTION, accept).content == {"count": 3}
    assert len(server.requests) == 1
    assert (first.usage.asked, second.usage.asked, second.usage.cached) == (1, 0, 1)


def test_the_key_is_sent_and_never_written(server: ModelServer, tmp_path: Path) -> None:
    Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    assert server.keys == [f"Bearer {KEY}"]
    written = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 1
    assert KEY not in written[0]


def test_another_model_is_another_question(server: ModelServer, tmp_path: Path) -> None:
    Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    Endpoint("large", server.url, tmp_path).ask(QUESTION, accept)
    assert [request["model"] for request in server.requests] == ["small", "large"]


def test_a_broken_file_of_the_cache_is_asked_again(server: ModelServer, tmp_path: Path) -> None:
    Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    [file] = tmp_path.iterdir()
    file.write_text("{", "utf-8")
    assert Endpoint("small", server.url, tmp_path).ask(QUESTION, accept).content == {"count": 3}
    assert len(server.requests) == 2


@pytest.mark.parametrize("trouble", [429, 500, 503, "broken", "empty", "cut"])
def test_a_trouble_that_passes_is_not_noticed(
    server: ModelServer, tmp_path: Path, trouble: int | str
) -> None:
    server.troubles = [trouble]
    assert Endpoint("small", server.url, tmp_path).ask(QUESTION, accept).content == {"count": 3}
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (429, "the model is busy or the quota is used up (HTTP status 429)"),
        (500, "the server failed (HTTP status 500)"),
        ("broken", "the answer is not JSON"),
        ("refusal", "the model refused to answer"),
        ("empty", "the answer is empty"),
        ("cut", "the answer is cut off: the model has too few tokens left"),
        ("garbage", "the server's answer is not one of the protocol"),
    ],
)
def test_a_trouble_that_stays_costs_one_question(
    server: ModelServer, tmp_path: Path, trouble: int | str, message: str
) -> None:
    server.troubles = [trouble] * 10
    endpoint = Endpoint("small", server.url, tmp_path)
    with pytest.raises(AnswerError) as raised:
        endpoint.ask(QUESTION, accept)
    assert str(raised.value) == message
    assert list(tmp_path.iterdir()) == []
    server.troubles = []
    assert endpoint.ask(QUESTION, accept).content == {"count": 3}


def test_a_refusal_is_not_asked_again(server: ModelServer, tmp_path: Path) -> None:
    server.troubles = ["refusal"]
    with pytest.raises(AnswerError):
        Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    assert len(server.requests) == 1


def test_a_silent_server(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(endpoint_module, "MAX_RETRIES", 1)
    server.troubles = ["timeout"] * 2
    endpoint = Endpoint("small", server.url, tmp_path)
    with pytest.raises(AnswerError, match="did not answer within 0 seconds"):
        endpoint.ask(QUESTION, accept)
    assert endpoint.ask(QUESTION, accept).content == {"count": 3}


def test_an_answer_of_another_form(server: ModelServer, tmp_path: Path) -> None:
    server.reply = lambda messages, schema: {"sum": 3}
    with pytest.raises(AnswerError, match="does not follow the schema"):
        Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    assert len(server.requests) == endpoint_module.MAX_ATTEMPTS


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "the key in OPENAI_API_KEY is not accepted"), (404, "no such model"), (400, "is not accepted")],
)
def test_a_wrong_key_or_model_ends_the_run(
    server: ModelServer, tmp_path: Path, status: int, message: str
) -> None:
    server.troubles = [status]
    with pytest.raises(EndpointError, match=message):
        Endpoint("small", server.url, tmp_path).ask(QUESTION, accept)
    assert len(server.requests) == 1


def test_nobody_at_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "MAX_RETRIES", 0)
    with pytest.raises(EndpointError, match="cannot connect"):
        Endpoint("small", "http://127.0.0.1:9/v1", tmp_path).ask(QUESTION, accept)


def test_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EndpointError, match="set OPENAI_API_KEY"):
        Endpoint("small", cache=tmp_path).ask(QUESTION, accept)


def test_costs_are_counted_and_limited(server: ModelServer, tmp_path: Path) -> None:
    price = TokenPrice(question=2.0, answer=10.0)
    endpoint = Endpoint("small", server.url, tmp_path, price, max_cost=0.003)
    endpoint.ask(QUESTION, accept)
    assert endpoint.cost == 0.003  # 1,000 tokens of the question and 100 of the answer
    with pytest.raises(AnswerError, match=r"the limit of 0\.003 dollars is reached"):
        endpoint.ask(Question("You answer.", "How much?", QUESTION.schema), accept)
    assert endpoint.ask(QUESTION, accept).content == {"count": 3}, "a known answer costs nothing"


def test_tokens_that_nobody_counted_are_estimated(server: ModelServer, tmp_path: Path) -> None:
    server.with_usage = False
    endpoint = Endpoint("small", server.url, tmp_path)
    endpoint.ask(QUESTION, accept)
    assert endpoint.usage.question_tokens == QUESTION.tokens
    assert 0 < endpoint.usage.answer_tokens < 10
    assert endpoint.cost is None


def test_answers_are_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert answers_folder() == tmp_path / "untemplate" / "answers"
