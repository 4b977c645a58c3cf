from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph import DriftGuard, EphemeralMemoryStore
from driftguard_langgraph.judgement.culprit import blamed, contains, does_the_same
from driftguard_langgraph.text.actions import as_action
from driftguard_langgraph.text.validation import TextLimits
from driftguard_langgraph.types import Action


def call(tool: str, **args: Any) -> Action:
    return as_action({"name": tool, "args": args}, TextLimits())


def sql(query: str) -> Action:
    return call("sql", query=query)


def bash(command: str) -> Action:
    return call("bash", command=command)


@pytest.mark.parametrize(
    ("action", "feedback", "parts"),
    [
        (sql("SELECT nickname FROM pets"), "Unknown column 'nickname' in 'where'", {"nickname"}),
        (sql("SELECT a FROM zoo_pets"), "Table 'park.zoo_pets' doesn't exist", {"zoo_pets"}),
        (sql("SELECT age FROM pets"), "no such column: age", {"age"}),
        (bash("jqq . a.json"), "/bin/sh: line 1: jqq: command not found", {"jqq"}),
        (bash("jqq . a.json"), "jqq: command not found", {"jqq"}),
        (bash("cat notes.md | wc"), "cat: notes.md: No such file or directory", {"notes.md"}),
        (bash("tool --fastt x"), "error: unrecognized arguments: --fastt", {"--fastt"}),
        (call("refund", order="A17", note="ok"), "order A17 was closed last week", set()),
        (call("cancel", text="cancel booking QX_77 today"), "booking QX_77 is gone", {"qx_77"}),
        (bash("ls"), "permission denied", set()),
        (bash("grep -x foo *.txt"), "grep: *.log: No such file or directory", set()),
        (bash("cd $(ls | tail -1)"), "/bin/sh: line 1: cd: /x.txt: No such file", set()),
    ],
)  # fmt: skip
def test_feedback_blames_the_part_that_it_names(
    action: Action, feedback: str, parts: set[str]
) -> None:
    assert blamed(action, feedback) == parts


def test_suggestions_are_not_blamed() -> None:
    feedback = "Unknown column 'nick'. Did you mean 'name', 'age' or 'pets'?"

    assert blamed(sql("SELECT nick, name, age FROM pets"), feedback) == {"nick"}


def test_a_listing_blames_nothing() -> None:
    names = [f"col_{i}" for i in range(20)]
    feedback = "row dump: " + " ".join(f"'{name}'" for name in names)

    assert not blamed(call("columns", wanted=" and ".join(names)), feedback)


def test_a_value_that_is_blamed_as_a_whole_is_repeated_only_by_itself() -> None:
    assert not blamed(call("search", q="Red Kite"), "Could not find [Red Kite].")


def test_a_part_is_found_as_a_whole_word_only() -> None:
    parts = frozenset({"pets"})

    assert contains(sql("SELECT 1 FROM pets p"), parts)
    assert contains(sql("SELECT 1 FROM zoo.pets"), parts)
    assert not contains(sql("SELECT 1 FROM pets_old"), parts)
    assert not contains(sql("SELECT 1 FROM carpets"), parts)
    assert not contains(sql("SELECT 1 FROM pets"), frozenset())


@pytest.mark.parametrize(
    ("failed", "proposed", "same"),
    [
        ("cat notes.txt", "touch notes.txt", False),
        ("cd build_dir", "mkdir build_dir", False),
        ("pip show left_pad", "pip show left_pad | head", True),
        ("git push origin feature_x", "git push -u origin feature_x", False),
        ("git push -v origin feature_x", "git push origin feature_x", True),
        ("cat notes.txt | wc", "cat notes.txt | sort", True),
    ],
)
def test_doing_something_else_with_the_blamed_part_may_be_the_cure(
    failed: str, proposed: str, *, same: bool
) -> None:
    parts = frozenset({failed.rsplit(maxsplit=1)[-1] if "|" not in failed else "notes.txt"})

    assert does_the_same(bash(failed), bash(proposed), parts) is same


def test_a_blamed_command_is_not_cured_by_its_surroundings() -> None:
    assert does_the_same(bash("jqq a"), bash("cat a | jqq"), frozenset({"jqq"}))


class TestInTheGuard:
    @pytest.fixture
    def guard(self) -> DriftGuard:
        made = DriftGuard(store=EphemeralMemoryStore())
        made.record(
            {"name": "sql", "args": {"query": "SELECT nickname FROM pets"}},
            "Unknown column 'nickname' in 'field list'",
            "query failed",
        )
        return made

    def ask(self, guard: DriftGuard, query: str, tool: str = "sql") -> Any:
        return guard.before_step({"name": tool, "args": {"query": query}})

    def test_a_reworded_call_with_the_blamed_part_is_warned(self, guard: DriftGuard) -> None:
        review = self.ask(guard, "SELECT nickname, age FROM pets WHERE age > 3")

        [warning] = review.warnings
        assert warning.match.kind == "same_culprit"
        assert warning.match.shared == ("nickname",)
        assert not review.related

    def test_the_corrected_call_is_left_alone(self, guard: DriftGuard) -> None:
        review = self.ask(guard, "SELECT name FROM pets")

        assert not review.warnings
        assert review.related

    @pytest.mark.parametrize(
        ("failed", "feedback", "cure"),
        [
            ("delete the bucket logs-1", "logs-1 is not empty", "do not delete the bucket logs-1"),
            ("create the bucket logs-1", "logs-1 exists already", "delete the bucket logs-1"),
            ("stop the service web-1", "web-1 is not running", "start the service web-1"),
        ],
    )
    def test_the_opposite_is_no_repeat_though_it_names_the_same(
        self, guard: DriftGuard, failed: str, feedback: str, cure: str
    ) -> None:
        guard.record(failed, feedback, "stuck")

        assert not guard.before_step(cure).warnings

    def test_another_tool_is_left_alone(self, guard: DriftGuard) -> None:
        assert not self.ask(guard, "SELECT nickname, age FROM pets", tool="graphql").warnings

    def test_a_success_with_the_part_refutes_the_blame_until_it_fails_again(
        self, guard: DriftGuard
    ) -> None:
        query = "SELECT nickname FROM cats"
        guard.record_success({"name": "sql", "args": {"query": query}}, "3 rows", "fine")
        assert not self.ask(guard, "SELECT nickname, age FROM pets WHERE age > 3").warnings

        guard.record(
            {"name": "sql", "args": {"query": "SELECT nickname FROM pets LIMIT 1"}},
            "Unknown column 'nickname' in 'field list'",
            "query failed",
        )
        assert self.ask(guard, "SELECT nickname, age FROM pets WHERE age > 3").warnings
