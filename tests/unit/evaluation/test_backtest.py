from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError, InvalidEpisode
from driftguard_langgraph.evaluation.backtest import backtest
from driftguard_langgraph.evaluation.stream_memory import StreamMemory
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


def entry(action: str, failed: bool, said: str, **more: Any) -> dict[str, Any]:
    return {
        "stream_id": "kitchen",
        "action_text": action,
        "is_error": failed,
        "observation_text": said,
        **more,
    }


BOIL, OVEN = "boil the milk on full heat", "preheat the oven to two hundred degrees"
UNLABELLED = [
    entry(BOIL, True, "milk boiled over", source="stove"),
    entry(OVEN, False, "oven is hot", source="oven"),
    entry(BOIL, True, "milk boiled over", source="stove"),
    entry("inflate the bicycle tyre", True, "milk boiled over", source="stove"),
    entry(BOIL, False, "milk is warm", source="stove"),
]
"""A repeat that is warned, one that only shares the error, and a false alarm."""


def write(folder: Path, entries: list[Any], name: str = "trace.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
    return path


def test_without_labels_hits_misses_and_false_alarms_are_derived(tmp_path: Path) -> None:
    result = backtest([write(tmp_path, UNLABELLED)])
    total = result.total
    assert result.labels == "derived"
    assert (total.steps, total.failures, total.successes) == (5, 3, 2)
    assert (total.warned, total.hits, total.misses, total.false_alarms) == (2, 1, 1, 1)
    assert total.kinds == {"exact": (1, 1), "same_error": (1, 0)}
    assert {name: tally.steps for name, tally in result.by_source.items()} == {
        "stove": 4,
        "oven": 1,
    }
    assert result.by_tool["(text)"].steps == 5


def test_a_holdout_of_the_settings_hides_nothing_from_a_backtest(tmp_path: Path) -> None:
    path, silent = write(tmp_path, UNLABELLED), DriftGuardSettings(holdout=1.0)
    assert backtest([path], settings=silent).total.hits == backtest([path]).total.hits > 0


def test_labels_decide_what_is_a_repeat_and_what_a_false_alarm(tmp_path: Path) -> None:
    no = {"repeats_earlier_error": False}
    labelled = [
        {**UNLABELLED[0], **no},
        {**UNLABELLED[2], "repeats_earlier_error": True, "repeat_kind": "normalized"},
        {**UNLABELLED[3], **no},
        {**UNLABELLED[4], **no, "ambiguous_success": True},
    ]
    result = backtest([write(tmp_path, labelled)])
    assert result.labels == "given"
    assert result.total.kinds == {"normalized": (1, 1)}
    assert (result.total.misses, result.total.false_alarms, result.total.warned) == (0, 0, 2)
    assert result.total.successes == 0


def test_labels_on_some_steps_are_called_mixed(tmp_path: Path) -> None:
    entries = [UNLABELLED[0], {**UNLABELLED[2], "repeats_earlier_error": True}]
    result = backtest([write(tmp_path, entries)])
    assert result.labels == "mixed"
    assert result.total.kinds == {"unspecified": (1, 1)}


def test_every_warned_step_and_every_miss_is_kept_with_its_grounds(tmp_path: Path) -> None:
    path = write(tmp_path, UNLABELLED)
    result = backtest([path])
    hit, alarm = result.warned.kept
    [miss] = result.missed.kept
    assert (hit.happened, hit.where, hit.earlier) == ("hit", f"{path}, line 3", f"{path}, line 1")
    assert hit.grounds is not None
    assert (hit.grounds.action, hit.grounds.feedback) == (BOIL, "milk boiled over")
    assert (alarm.happened, alarm.came_back, alarm.repeats) == ("false alarm", "milk is warm", None)
    assert (miss.happened, miss.repeats, miss.grounds) == ("miss", "same_error", None)
    assert miss.earlier == f"{path}, line 1"


def test_baselines_are_counted_over_the_same_steps(tmp_path: Path) -> None:
    found = backtest([write(tmp_path, UNLABELLED)]).baselines
    warned = {name: (tally.warned, tally.hits, tally.false_alarms) for name, tally in found.items()}
    assert warned == {
        "always warn": (5, 3, 2),
        "same text": (2, 1, 1),
        "same text, redeemed": (2, 1, 1),
        "cosine 0.90": (2, 1, 1),
    }


def test_what_a_step_costs_is_a_median_and_a_p95(tmp_path: Path) -> None:
    result = backtest([write(tmp_path, UNLABELLED)])
    assert 0 < result.ms_per_step <= result.ms_per_step_p95


def test_streams_remember_apart_unless_asked_otherwise(tmp_path: Path) -> None:
    entries = [
        entry(BOIL, True, "milk boiled over", stream_id="monday"),
        entry(BOIL, True, "milk boiled over", stream_id="tuesday"),
    ]
    path = write(tmp_path, entries)
    apart, together = backtest([path]), backtest([path], memory="all")
    assert (apart.streams, apart.total.warned, apart.total.repeats) == (2, 0, 0)
    assert (together.streams, together.total.warned, together.total.repeats) == (1, 1, 1)


def test_a_stream_goes_on_over_files_and_through_others(tmp_path: Path) -> None:
    first = write(tmp_path, [UNLABELLED[0], entry(OVEN, True, "fuse blew", stream_id="b")])
    second = write(tmp_path, [UNLABELLED[2]], "later.jsonl")
    assert backtest([first, second]).total.hits == 1


def test_calls_proposed_at_once_do_not_warn_of_each_other(tmp_path: Path) -> None:
    def proposal(*ids: str) -> list[dict[str, Any]]:
        function = {"name": "boil", "arguments": '{"heat": "full"}'}
        calls = [{"id": i, "function": function} for i in ids]
        answers = [{"role": "tool", "tool_call_id": i, "content": "Error: spilt"} for i in ids]
        return [{"role": "assistant", "tool_calls": calls}, *answers]

    at_once = backtest([write(tmp_path, proposal("a", "b"), "once.jsonl")])
    in_turn = backtest([write(tmp_path, proposal("a") + proposal("b"), "turn.jsonl")])
    assert (at_once.total.failures, at_once.total.warned, at_once.total.repeats) == (2, 0, 0)
    assert (in_turn.total.failures, in_turn.total.warned, in_turn.total.repeats) == (2, 1, 1)


def test_a_memory_is_released_after_the_last_step_of_its_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_now: Counter[str] = Counter()
    most = 0

    class Watched(StreamMemory):
        def __init__(self, embedder: Embedder, settings: DriftGuardSettings) -> None:
            nonlocal most
            super().__init__(embedder, settings)
            open_now["memories"] += 1
            most = max(most, open_now["memories"])

        def close(self) -> None:
            super().close()
            open_now["memories"] -= 1

    monkeypatch.setattr("driftguard_langgraph.evaluation.backtest.StreamMemory", Watched)
    entries = [entry(BOIL, True, "spilt", stream_id=f"day {n}") for n in (1, 1, 2, 3, 4, 5, 2)]
    backtest([write(tmp_path, entries)])
    assert open_now["memories"] == 0
    assert most == 2


def test_a_step_that_the_guard_refuses_is_reported_or_left_out(tmp_path: Path) -> None:
    bad = entry("boil\x00water", True, "spilt")
    binary = entry("boil water", True, "spilt\x00")
    path = write(tmp_path, [UNLABELLED[0], bad, binary, UNLABELLED[2]])
    with pytest.raises(InvalidEpisode, match="line 2"):
        backtest([path])
    skipped: list[str] = []
    result = backtest([path], on_invalid=skipped.append)
    assert [place.split(":")[0] for place in skipped] == [f"{path}, line 2"]
    assert (result.skipped, result.total.steps) == (1, 3)


def test_binary_output_of_a_tool_is_no_trouble(tmp_path: Path) -> None:
    binary = [entry(BOIL, True, "spilt\x00\ud800"), entry(BOIL, True, "spilt\x00\ud800")]
    total = backtest([write(tmp_path, binary)]).total
    assert (total.steps, total.hits) == (2, 1)


def test_a_bad_line_is_found_before_anything_is_replayed(tmp_path: Path) -> None:
    path = write(tmp_path, [*UNLABELLED, {"action_text": "go"}])
    phases: set[str] = set()
    with pytest.raises(InvalidEpisode, match="line 6"):
        backtest([path], progress=lambda phase, done, total: phases.add(phase))
    assert phases == {"reading"}


def test_a_file_without_steps_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, [{"messages": [{"role": "user", "content": "hello"}]}])
    with pytest.raises(ConfigurationError, match="no step with an outcome"):
        backtest([path])


def test_a_failing_embedder_is_never_counted_as_silence(tmp_path: Path) -> None:
    class Broken:
        model_id = "broken"
        dimension = 3

        def embed(self, texts: object) -> NDArray[np.float32]:
            raise EmbeddingError("the model is gone")

    settings = DriftGuardSettings(on_store_error="open")
    with pytest.raises(EmbeddingError):
        backtest([write(tmp_path, UNLABELLED)], settings=settings, embeddings=Broken())


def test_progress_ends_at_the_number_of_bytes_and_of_steps(tmp_path: Path) -> None:
    paths = [write(tmp_path, UNLABELLED, "a.jsonl"), write(tmp_path, UNLABELLED, "b.jsonl")]
    last: dict[str, tuple[int, int]] = {}
    backtest(paths, progress=lambda phase, done, total: last.update({phase: (done, total)}))
    size = sum(path.stat().st_size for path in paths)
    assert last == {"reading": (size, size), "replaying": (10, 10)}


def test_the_user_memory_is_not_touched(tmp_path: Path, user_data_dir: Path) -> None:
    backtest([write(tmp_path, UNLABELLED)])
    assert not user_data_dir.exists()


def reference(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Count as the labels' own definition has it: one guard a stream, predict, record."""
    guards: dict[str, DriftGuard] = {}
    seen: list[tuple[dict[str, Any], bool]] = []
    for row in rows:
        new = DriftGuard(store=EphemeralMemoryStore())
        guard = guards.setdefault(row["stream_id"], new)
        action = {"name": row["action_json"]["name"], "args": row["action_json"]["arguments"]}
        seen.append((row, bool(guard.before_step(action).warnings)))
        record = guard.record if row["is_error"] else guard.record_success
        outcome = "step failed" if row["is_error"] else "step succeeded"
        record(action, row["observation_text"] or "failed", outcome)
    repeats = [warned for row, warned in seen if row["repeats_earlier_error"]]
    good = [w for row, w in seen if not row["is_error"] and not row["ambiguous_success"]]
    warned_rows = [row["is_error"] for row, warned in seen if warned]
    kinds = {row["repeat_kind"] for row, _ in seen if row["repeats_earlier_error"]}
    by_kind = {k: [w for row, w in seen if row["repeat_kind"] == k] for k in kinds}
    return {
        "repeats": len(repeats),
        "recall": round(sum(repeats) / len(repeats), 4),
        "recall_by_kind": {k: round(sum(v) / len(v), 4) for k, v in by_kind.items()},
        "successes": len(good),
        "false_alarm_rate": round(sum(good) / len(good), 4),
        "warning_precision": round(sum(warned_rows) / len(warned_rows), 4),
    }


def test_real_traces_are_counted_as_an_independent_count_does(
    shared_data: Path, tmp_path: Path
) -> None:
    source = shared_data / "dev" / "repeat_failures.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    streams = list(dict.fromkeys(row["stream_id"] for row in rows))
    chosen = set(streams[:: len(streams) // 12])
    some = [row for row in rows if row["stream_id"] in chosen]
    result = backtest([write(tmp_path, some)]).total.to_dict()
    wanted = reference(some)
    assert {name: result[name] for name in wanted} == wanted
    assert wanted["repeats"] > 10
