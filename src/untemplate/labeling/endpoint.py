"""Ask a language model at any OpenAI-compatible endpoint: cached by content, retried, counted, within a cost limit.

The official client does the asking. It waits and tries again where a server is busy, fails or takes too long. The
key comes from the environment (`OPENAI_API_KEY`) and is never written. An answer is kept in a file named by the
hash of the model and the question, so a question is never paid for twice: a run that was interrupted continues
where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from untemplate.atomic_file import complete_file
from untemplate.errors import EndpointError, MissingExtra
from untemplate.page.outline import count_tokens

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

__all__ = ["AnswerError", "Endpoint", "ModelAnswer", "Question", "TokenPrice", "Usage", "answers_folder"]

# How often the client asks again where the server is busy, fails or is silent, and how long it waits for an answer.
MAX_RETRIES = 4
TIMEOUT_SECONDS = 120.0
# How often a question is asked again whose answer cannot be used: broken JSON, or none at all.
MAX_ATTEMPTS = 3

# How servers that stream mark their answer, and its end.
EVENT_STREAM = "text/event-stream"
END_OF_STREAM = "[DONE]"

KEY_VARIABLE = "OPENAI_API_KEY"
# What a server without keys, as one on this machine, is given.
NO_KEY = "none"


class AnswerError(Exception):
    """A question that got no usable answer. The message is the kind of failure, the same for all such questions."""


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars for a million tokens: those of questions and those of answers."""

    question: float
    answer: float

    def cost(self, question_tokens: int, answer_tokens: int) -> float:
        """Return the dollars for these tokens.

        >>> TokenPrice(2.0, 8.0).cost(500_000, 100_000)
        1.8
        """
        return round((question_tokens * self.question + answer_tokens * self.answer) / 1e6, 6)


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: what it is, what it shall do, and the JSON schema of its answer."""

    system: str
    user: str
    schema: Mapping[str, Any]

    @property
    def tokens(self) -> int:
        """The tokens of the question, as far as we can count them."""
        return count_tokens(self.system) + count_tokens(self.user) + count_tokens(json.dumps(self.schema))


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A usable answer.

    Attributes:
        content: the JSON object of the answer.
        question_tokens: tokens that were paid for asking, including attempts without a usable answer.
        answer_tokens: tokens that were paid for answering.
    """

    content: dict[str, Any]
    question_tokens: int
    answer_tokens: int


@dataclass(slots=True)
class Usage:
    """What asking has cost so far.

    Attributes:
        asked: questions that the model was asked.
        cached: questions whose answers were known.
        question_tokens: tokens of all questions that were asked.
        answer_tokens: tokens of their answers.
    """

    asked: int = 0
    cached: int = 0
    question_tokens: int = 0
    answer_tokens: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return the counts as JSON data."""
        return asdict(self)


def answers_folder() -> Path:
    """Return the folder for answers of models: `untemplate/answers` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "untemplate" / "answers"


class Endpoint:
    """A language model at an OpenAI-compatible endpoint.

    Args:
        model: the name of the model.
        url: the address of the endpoint, such as `http://localhost:11434/v1`; that of OpenAI if not given.
        cache: the folder for answers.
        price: what tokens cost; without it costs are not known.
        max_cost: dollars after which no more questions are asked.

    Example:
        >>> endpoint = Endpoint("a-model", "http://localhost:1/v1", price=TokenPrice(1, 4), max_cost=0.50)
        >>> endpoint.cost
        0.0
    """

    def __init__(
        self,
        model: str,
        url: str | None = None,
        cache: Path | None = None,
        price: TokenPrice | None = None,
        max_cost: float | None = None,
    ) -> None:
        self.model = model
        self.url = url
        self.price = price
        self.max_cost = max_cost
        self.usage = Usage()
        self._cache = cache or answers_folder()

    @property
    def cost(self) -> float | None:
        """The dollars that were paid so far; None if the price is not known."""
        if self.price is None:
            return None
        return self.price.cost(self.usage.question_tokens, self.usage.answer_tokens)

    def knows(self, question: Question) -> bool:
        """Return True if the answer of a question is in the cache."""
        return self._file_of(question).is_file()

    def ask(self, question: Question, check: Callable[[dict[str, Any]], None]) -> ModelAnswer:
        """Return the answer of a question, from the cache if it was asked before.

        Args:
            question: the question.
            check: raises ValueError if an answer cannot be used; then the model is asked again.

        Raises:
            AnswerError: there is no usable answer; the next question may have one.
            EndpointError: no question can be answered: the address, the key or the model is wrong.
        """
        if (known := self._read(question)) is not None:
            self.usage.cached += 1
            return known
        if self.max_cost is not None and (self.cost or 0.0) >= self.max_cost:
            raise AnswerError(f"the limit of {self.max_cost:g} dollars is reached")
        self.usage.asked += 1
        before = (self.usage.question_tokens, self.usage.answer_tokens)
        content = self._ask_repeatedly(question, check)
        paid = (self.usage.question_tokens - before[0], self.usage.answer_tokens - before[1])
        answer = ModelAnswer(content, *paid)
        self._write(question, answer)
        return answer

    def _ask_repeatedly(self, question: Question, check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        problem = ""
        for _ in range(MAX_ATTEMPTS):
            completion = self._complete(question)
            self._count(question, completion)
            try:
                content = _read_content(completion)
                check(content)
            except ValueError as error:
                problem = str(error)
            else:
                return content
        raise AnswerError(problem)

    def _complete(self, question: Question) -> _Completion:
        """Ask once; the client itself tries again where that may help."""
        client = self._client
        import openai

        try:
            response = client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.user},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "labels", "strict": True, "schema": dict(question.schema)},
                },
            )
            return _read_completion(response.headers.get("content-type", ""), response.text)
        except openai.APITimeoutError as error:
            raise AnswerError(f"the model did not answer within {TIMEOUT_SECONDS:.0f} seconds") from error
        except openai.RateLimitError as error:
            raise AnswerError("the model is busy or the quota is used up (HTTP status 429)") from error
        except openai.InternalServerError as error:
            raise AnswerError(f"the server failed (HTTP status {error.status_code})") from error
        except openai.APIStatusError as error:
            raise EndpointError(f"{self._name}: {_status_text(error)}") from error
        except openai.APIConnectionError as error:
            raise EndpointError(f"{self._name}: cannot connect: {error.__cause__ or error}") from error
        except (openai.APIError, ValidationError) as error:
            raise AnswerError("the server's answer is not one of the protocol") from error

    @property
    def _name(self) -> str:
        return self.url or "the endpoint of OpenAI"

    @cached_property
    def _client(self) -> OpenAI:
        try:
            from openai import OpenAI
        except ImportError as error:
            raise MissingExtra("llm", "The labeler by language models") from error
        key = os.environ.get(KEY_VARIABLE) or (NO_KEY if self.url else None)
        if key is None:
            raise EndpointError(
                f"no key: set {KEY_VARIABLE}, or give the address of a server with --endpoint"
            )
        return OpenAI(api_key=key, base_url=self.url, max_retries=MAX_RETRIES, timeout=TIMEOUT_SECONDS)

    def _count(self, question: Question, completion: _Completion) -> None:
        """Add the tokens of an answer; those that the server did not count are estimated."""
        used = completion.usage
        self.usage.question_tokens += used.prompt_tokens if used else question.tokens
        self.usage.answer_tokens += used.completion_tokens if used else count_tokens(completion.text)

    # The cache

    def _file_of(self, question: Question) -> Path:
        content = json.dumps([self.model, question.system, question.user, question.schema], sort_keys=True)
        return self._cache / f"{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}.json"

    def _read(self, question: Question) -> ModelAnswer | None:
        try:
            return ModelAnswer(**json.loads(self._file_of(question).read_text("utf-8")))
        except (OSError, ValueError, TypeError):  # not there, or not written by us: it is asked again
            return None

    def _write(self, question: Question, answer: ModelAnswer) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        with complete_file(self._file_of(question)) as path:
            path.write_text(json.dumps(asdict(answer), ensure_ascii=True), "utf-8")


class _Message(BaseModel):
    """What a model says, or a piece of it."""

    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    """An answer; servers that stream call its pieces `delta`."""

    message: _Message = Field(default=_Message(), validation_alias=AliasChoices("message", "delta"))
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(BaseModel):
    """What we read of a server's answer. Servers differ in everything else."""

    choices: list[_Choice]
    usage: _Tokens | None = None

    @property
    def text(self) -> str:
        return "".join(choice.message.content or "" for choice in self.choices)

    @property
    def finish_reason(self) -> str | None:
        """Why the answer ended; None if a stream broke off."""
        return next((choice.finish_reason for choice in self.choices if choice.finish_reason), None)


def _read_completion(content_type: str, text: str) -> _Completion:
    """Return a server's answer; some servers stream even if they are not asked to.

    Raises:
        ValidationError: it is not one of the protocol.
    """
    if not content_type.startswith(EVENT_STREAM):
        return _Completion.model_validate_json(text)
    events = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    pieces = [_Completion.model_validate_json(event) for event in events if event != END_OF_STREAM]
    choices = list(chain.from_iterable(piece.choices for piece in pieces))
    return _Completion(choices=choices, usage=next((piece.usage for piece in pieces if piece.usage), None))


def _read_content(completion: _Completion) -> dict[str, Any]:
    """Return the JSON object of an answer.

    Raises:
        AnswerError: the model refused; asking again would not help.
        ValueError: the answer is no JSON object.
    """
    if not completion.choices:
        raise ValueError("the answer is empty")
    refused = any(choice.message.refusal for choice in completion.choices)
    if refused or completion.finish_reason == "content_filter":
        raise AnswerError("the model refused to answer")
    if completion.finish_reason == "length":
        raise ValueError("the answer is cut off: the model has too few tokens left")
    try:
        content = json.loads(completion.text)
    except (ValueError, RecursionError) as error:
        raise ValueError("the answer is not JSON") from error
    if not isinstance(content, dict):
        raise ValueError("the answer is not JSON")
    return content


def _status_text(error: APIStatusError) -> str:
    """Return in words why a server refuses all questions."""
    known: Mapping[int, str] = {
        401: f"the key in {KEY_VARIABLE} is not accepted",
        403: f"the key in {KEY_VARIABLE} may not use this model",
        404: "no such model or address",
    }
    status = error.status_code
    return f"{known.get(status, 'the question is not accepted')} (HTTP status {status})"
