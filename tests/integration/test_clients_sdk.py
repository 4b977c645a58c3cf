"""Wrapped clients of the real SDKs, against a server on this machine."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import InternalServerError as AnthropicServerError
from blockbuster import blockbuster_ctx
from openai import APITimeoutError, AsyncOpenAI, InternalServerError, OpenAI, RateLimitError
from pydantic import BaseModel

from driftguard_langgraph.clients import drift_of, wrap
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from driftguard_langgraph.errors import ReplyNotScored
from tests.client_server import Failure, Vendor, vendor
from tests.drift_samples import ANSWER, PROMPT, QUESTION

ASK = {"role": "user", "content": QUESTION}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": PROMPT}, ASK],
}
MESSAGE: dict[str, Any] = {"model": "m", "max_tokens": 9, "system": PROMPT, "messages": [ASK]}
RESPONSE: dict[str, Any] = {"model": "m", "instructions": PROMPT, "input": QUESTION}
CALL = {"name": "timetable", "args": {"day": "Sunday"}}


@pytest.fixture
def server() -> Iterator[Vendor]:
    with vendor(ANSWER) as made:
        yield made


def openai(server: Vendor, **options: Any) -> OpenAI:
    return OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0, **options)


def anthropic(server: Vendor) -> Anthropic:
    return Anthropic(api_key="k", base_url=server.url, max_retries=0)


def asks(server: Vendor) -> list[tuple[Any, Any, dict[str, Any]]]:
    """Return the three endpoints: wrapped client, its resource, and a request."""
    first, second, third = wrap(openai(server)), wrap(openai(server)), wrap(anthropic(server))
    return [
        (first, first.chat.completions, CHAT),
        (second, second.responses, RESPONSE),
        (third, third.messages, MESSAGE),
    ]


def turns(client: Any) -> int:
    return int(client.drift_tracker().turn_count)


def test_each_endpoint_attaches_a_report_beside_the_fields(server: Vendor) -> None:
    for client, resource, request in asks(server):
        reply = resource.create(**request)
        assert isinstance(reply.drift, DriftReport)
        assert reply.drift.turn == 2
        assert reply._drift is reply.drift
        assert reply._managed_context == PROMPT
        assert "drift" not in reply.model_dump_json()
        assert copy.deepcopy(reply).drift == reply.model_copy().drift == reply.drift
        assert pickle.loads(pickle.dumps(reply)).drift == reply.drift  # noqa: S301
        assert type(reply).model_validate(reply.model_dump()) == reply
        assert client.drift_check().drift == reply.drift


def test_what_is_sent_is_not_changed(server: Vendor) -> None:
    openai(server).chat.completions.create(**CHAT)
    wrap(openai(server)).chat.completions.create(**CHAT)
    assert server.bodies[0] == server.bodies[1]


def test_streams_pass_every_event_on_and_have_the_report_at_the_end(server: Vendor) -> None:
    plain = [openai(server).chat.completions, openai(server).responses, anthropic(server).messages]
    for (client, resource, request), unwrapped in zip(asks(server), plain, strict=True):
        events = list(unwrapped.create(stream=True, **request))  # type: ignore[attr-defined]
        with resource.create(stream=True, **request) as stream:
            assert drift_of(stream) is None
            heard = list(stream)
        assert [type(event) for event in heard] == [type(event) for event in events]
        assert stream.drift.turn == 2
        assert client.drift_tracker().check().drift == stream.drift
        assert turns(client) == 1


def test_stream_managers_keep_working_and_drift_of_finds_the_report(server: Vendor) -> None:
    client, other = wrap(openai(server)), wrap(anthropic(server))
    with client.chat.completions.stream(**CHAT) as chat:
        assert chat.get_final_completion().choices[0].message.content == ANSWER
    with client.responses.stream(**RESPONSE) as response:
        assert response.get_final_response().output_text == ANSWER
    with other.messages.stream(**MESSAGE) as message:
        assert "".join(message.text_stream) == ANSWER
    for stream in (chat, response, message):
        report = drift_of(stream)
        assert isinstance(report, DriftReport)
        assert report.turn == 2


def test_a_stream_that_is_left_early_counts_what_was_said(server: Vendor) -> None:
    for client, resource, request in asks(server):
        with resource.create(stream=True, **request) as stream:
            for _ in range(5):
                next(stream)
        assert stream.drift.turn == 2
        assert turns(client) == 1


def test_a_stream_that_breaks_off_raises_as_without_us_and_counts_nothing(server: Vendor) -> None:
    server.script = [Failure()]
    for client, resource, request in asks(server):
        stream = resource.create(stream=True, **request)
        with pytest.raises(Exception, match=r".+") as caught, stream:
            list(stream)
        assert "driftguard" not in type(caught.value).__module__
        assert stream.drift is None
        assert turns(client) == 0


def test_errors_of_the_vendor_stay_theirs_and_a_retry_scores_once(server: Vendor) -> None:
    server.script = [Failure(429), Failure(500), Failure(500), ANSWER]
    client, other = wrap(openai(server)), wrap(anthropic(server))
    with pytest.raises(RateLimitError):
        client.chat.completions.create(**CHAT)
    with pytest.raises(InternalServerError):
        client.chat.completions.create(**CHAT)
    with pytest.raises(AnthropicServerError):
        other.messages.create(**MESSAGE)
    assert client.chat.completions.create(**CHAT).drift.turn == 2
    assert turns(client) == 1


def test_a_timeout_stays_a_timeout(server: Vendor) -> None:
    server.script = [Failure(500, delay=0.5)]
    with pytest.raises(APITimeoutError):
        wrap(openai(server, timeout=0.05)).chat.completions.create(**CHAT)


def test_retries_inside_the_sdk_score_once(server: Vendor) -> None:
    server.script = [Failure(500), ANSWER]
    client = wrap(openai(server)).with_options(max_retries=2)
    assert client.chat.completions.create(**CHAT).drift.turn == 2


def test_a_history_goes_on_in_its_conversation_and_two_users_stay_apart(server: Vendor) -> None:
    client = wrap(openai(server))
    anna = [*CHAT["messages"]]
    for turn in (1, 2, 3):
        reply = client.chat.completions.create(model="m", messages=anna)
        assert reply.drift.turn == 2 * turn  # type: ignore[attr-defined]
        anna += [reply.choices[0].message, {"role": "user", "content": f"{QUESTION} {turn}"}]
        bert = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": f"I am Bert, and ask {turn}."}]
        )
        assert bert.drift.turn == 2  # type: ignore[attr-defined]


def test_the_same_opening_of_two_users_makes_two_conversations(server: Vendor) -> None:
    client = wrap(openai(server))
    for _ in range(2):
        assert client.chat.completions.create(**CHAT).drift.turn == 2


def test_a_history_cut_at_the_front_is_recognised(server: Vendor) -> None:
    client = wrap(anthropic(server))
    client.messages.create(**MESSAGE)
    said = [ASK, {"role": "assistant", "content": ANSWER}, {"role": "user", "content": "More?"}]
    client.messages.create(**{**MESSAGE, "messages": said})
    cut = [*said[1:], {"role": "assistant", "content": ANSWER}, ASK]
    client.messages.create(**{**MESSAGE, "messages": cut})
    assert turns(client) == 3


def test_an_id_makes_calls_without_history_one_conversation(server: Vendor) -> None:
    client = wrap(openai(server), conversation="anna")
    for text in ("When does it leave?", "And back?"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    bert: Any = client.in_conversation("bert")  # type: ignore[attr-defined]
    bert.chat.completions.create(**CHAT)
    assert (turns(client), turns(bert)) == (2, 1)


def test_previous_response_id_goes_on(server: Vendor) -> None:
    client = wrap(openai(server))
    first = client.responses.create(**RESPONSE)
    more = client.responses.create(model="m", input="And back?", previous_response_id=first.id)
    assert more.drift.turn == 4  # type: ignore[attr-defined]
    assert turns(client) == 2


def test_tool_rounds_are_one_exchange(server: Vendor) -> None:
    server.script = [CALL, ANSWER]
    client = wrap(openai(server))
    first = client.chat.completions.create(**CHAT)
    assert first.drift.turn == 1
    call = first.choices[0].message
    result = {"role": "tool", "tool_call_id": "call-1", "content": "at nine"}
    messages = [*CHAT["messages"], call, result]
    last = client.chat.completions.create(model="m", messages=messages)
    assert last.drift.turn == 2  # type: ignore[attr-defined]
    assert turns(client) == 1


def test_anthropic_and_responses_tool_rounds_are_one_exchange(server: Vendor) -> None:
    server.script = [CALL, ANSWER, CALL, ANSWER]
    client, other = wrap(anthropic(server)), wrap(openai(server))
    used = client.messages.create(**MESSAGE)
    result = {"type": "tool_result", "tool_use_id": "toolu-1", "content": "at nine"}
    said = [ASK, {"role": "assistant", "content": used.content}]
    said.append({"role": "user", "content": [result]})
    client.messages.create(**{**MESSAGE, "messages": said})
    response = other.responses.create(**RESPONSE)
    output = {"type": "function_call_output", "call_id": "call-3", "output": "at nine"}
    items: list[Any] = [ASK, *response.output, output]
    other.responses.create(model="m", instructions=PROMPT, input=items)
    assert (turns(client), turns(other)) == (1, 1)


def test_lists_of_content_are_read(server: Vendor) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": QUESTION}, image]
    reply = wrap(openai(server)).chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": content}],  # type: ignore[misc,list-item]
    )
    assert reply.drift.turn == 2  # type: ignore[attr-defined]


class Ferry(BaseModel):
    hour: int


def test_parse_raw_and_streaming_responses_are_scored(server: Vendor) -> None:
    server.script = ['{"hour": 9}', ANSWER]
    client = wrap(openai(server))
    parsed = client.chat.completions.parse(response_format=Ferry, **CHAT)
    assert parsed.choices[0].message.parsed == Ferry(hour=9)
    assert parsed.drift.turn == 2  # type: ignore[attr-defined]
    for client, resource, request in asks(server):
        raw = resource.with_raw_response.create(**request)
        assert raw.drift == raw.parse().drift == drift_of(raw)
        assert raw.drift.turn == 2
        with resource.with_streaming_response.create(**request) as response:
            assert response.parse().drift is not None
        stream = resource.with_raw_response.create(stream=True, **request).parse()
        assert list(stream)
        assert stream.drift is not None
        assert client.drift_tracker().turn_count == 1


def test_it_stays_a_client_of_its_class(server: Vendor) -> None:
    original = openai(server)
    chat = original.chat
    client = wrap(original)
    assert isinstance(client, OpenAI)
    assert isinstance(client.with_options(timeout=3), OpenAI)
    assert (client.api_key, client.timeout) == (original.api_key, original.timeout)
    assert original.chat is chat
    assert not hasattr(original.chat.completions.create(**CHAT), "drift")
    assert copy.copy(client).chat.completions.create(**CHAT).drift
    with client as entered:
        assert entered is client


class Broken(DriftTracker):
    def record_user_message(self, user_message: object) -> DriftReport | None:
        raise OSError(str(user_message))


def test_a_failure_of_ours_never_costs_the_reply(
    server: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    client = wrap(openai(server), tracker=Broken(PROMPT))
    reply = client.chat.completions.create(**CHAT)
    assert reply.choices[0].message.content == ANSWER
    assert reply.drift is None
    assert "OSError" in caplog.text
    assert QUESTION not in caplog.text
    assert list(client.chat.completions.create(stream=True, **CHAT))


def test_closed_says_so_and_hands_the_reply_over(server: Vendor) -> None:
    client = wrap(openai(server), tracker=Broken(PROMPT), on_error="closed")
    with pytest.raises(ReplyNotScored) as caught:
        client.chat.completions.create(**CHAT)
    reply: Any = caught.value.reply
    assert reply.choices[0].message.content == ANSWER


async def test_async_clients_score_without_blocking_the_loop(server: Vendor) -> None:
    first = wrap(AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1"))
    second = wrap(AsyncAnthropic(api_key="k", base_url=server.url))
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        (first, first.chat.completions, CHAT),
        (first, first.responses, RESPONSE),
        (second, second.messages, MESSAGE),
    ]
    for _, resource, request in cases:
        await resource.create(**request)
    with blockbuster_ctx("driftguard_langgraph"):
        for _, resource, request in cases:
            assert (await resource.create(**request)).drift.turn == 2
            stream = await resource.create(stream=True, **request)
            assert len([event async for event in stream]) > 3
            assert stream.drift.turn == 2
            async with await resource.create(stream=True, **request) as left:
                heard = 0
                async for _event in left:
                    heard += 1
                    if heard == 5:
                        break
            assert left.drift.turn == 2
            raw = await resource.with_raw_response.create(**request)
            assert raw.drift.turn == 2
            async with resource.with_streaming_response.create(**request) as response:
                assert (await response.parse()).drift.turn == 2
        async with second.messages.stream(**MESSAGE) as message:
            assert await message.get_final_text() == ANSWER
        assert drift_of(message) is not None
    await first.close()
    await second.close()
