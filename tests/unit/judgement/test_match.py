"""Minimal pairs. The similarity is given, high on purpose: words must decide, not cosine."""

from __future__ import annotations

import pytest

from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.types import Action, Match

ALIKE = 0.93
FLOOR = 0.60


def match(a: str, b: str, similarity: float = ALIKE) -> Match:
    return compare(Action(a), Action(b), similarity, FLOOR)


def call(name: str, **args: object) -> Action:
    inner = ", ".join(f"{key}={value!r}" for key, value in sorted(args.items()))
    return Action(f"{name}({inner})", name, args)


DIFFERENT = [
    ("archive the old invoices", "do not archive the old invoices", "different_polarity"),
    ("archive the old invoices", "never archive the old invoices", "different_polarity"),
    ("archive the old invoices", "avoid archiving the old invoices", "different_polarity"),
    ("restart without a backup", "restart with a backup", "different_polarity"),
    ("enable the feature flag", "disable the feature flag", "different_direction"),
    ("turn the relay on", "turn the relay off", "different_direction"),
    ("scale the workers up", "scale the workers down", "different_direction"),
    ("grant write access to the bot", "revoke write access from the bot", "different_direction"),
    ("raise the memory limit", "lower the memory limit", "different_direction"),
    ("lint the code before the merge", "lint the code after the merge", "different_direction"),
    ("erase the cache folder", "create the cache folder", "different_direction"),
    ("reboot the mail server", "check on the mail server", "different_direction"),
    ("purge the job queue", "count the job queue", "different_direction"),
    ("rename the invoices table", "describe the invoices table", "different_direction"),
    ("refund the order", "have a look at the order", "different_direction"),
    ("seed the staging tables", "seed the production tables", "different_target"),
    ("reboot node 7", "reboot node 8", "different_value"),
    ("reboot node seven", "reboot node 8", "different_value"),
    ("pay 20 euros", "pay 20,000 euros", "different_value"),
    ("merge branch fix-login", "merge branch fix-logout", "different_target"),
    ("remove /var/log/app", "remove /var/lib/app", "different_target"),
    ("ship order A", "ship order B", "different_target"),
    ("sync from orders to billing", "sync from billing to orders", "different_order"),
    ("run the tests before the build", "run the build before the tests", "different_order"),
    ("helm status web", "helm delete web", "different_direction"),
    ("podman ps", "podman rm", "different_direction"),
    ("ls /srv/data", "rm /srv/data", "different_direction"),
    ("mv notes.txt old.txt", "mv old.txt notes.txt", "different_order"),
    ("sync /home/ann /mnt/ann", "sync /mnt/ann /home/ann", "different_order"),
    ("move 3 pods onto 5 nodes", "move 5 pods onto 3 nodes", "different_order"),
    ("book a table for two at eight", "book a table for eight at two", "different_order"),
    ("which jobs were cancelled?", "cancel the jobs", "different_mood"),
]


@pytest.mark.parametrize(("a", "b", "kind"), DIFFERENT)
def test_a_difference_that_matters_makes_two_steps_of_them(a: str, b: str, kind: str) -> None:
    found = match(a, b)

    assert not found.same
    assert found.kind == kind
    assert found.differences
    assert found.score < FLOOR


@pytest.mark.parametrize(("a", "b", "kind"), DIFFERENT)
def test_the_order_of_the_two_does_not_matter(a: str, b: str, kind: str) -> None:
    assert match(b, a).score == match(a, b).score
    assert match(b, a).kind == kind


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("erase the scratch folder", "remove the temp directory"),
        ("retry the upload three times", "retry the upload 3 times"),
        ("restart node 7", "reboot node seven"),
        ("do not keep the cache", "delete the cache"),
        ("don't email the customer", "do not email the customer"),
        ("switch prod to read-only", "switch production to read-only"),
        ("deploy the api service now", "please deploy the api service"),
        ("wipe the cache folder before the run", "clear the cache folder ahead of the run"),
        ("reboot the mail server", "check the mail server and restart it"),
        ("sync notes.txt and old.txt", "sync old.txt and notes.txt"),
        ("look at the queue in Berlin", "inspect the queue in Berlin"),
        ("check the roads in Oslo", "view the roads in Oslo"),
        ("mail the invoice to the whole list", "send the invoice to the whole list"),
    ],
)
def test_the_same_step_in_other_words_matches(a: str, b: str) -> None:
    found = match(a, b)

    assert found.same
    assert found.kind == "paraphrase"
    assert found.score >= FLOOR


def test_the_same_text_is_exact_whatever_the_similarity() -> None:
    assert match("do it", "do it", similarity=0.0).kind == "exact"
    assert match("do it", "do it", similarity=0.0).score == 1.0


def test_case_spacing_and_punctuation_are_folded_where_they_mean_nothing() -> None:
    assert match("Deploy  the api", "deploy the API", similarity=0.2).kind == "normalized"
    assert not match("rm -r build", "rm -R build", similarity=0.2).same


def test_unlike_texts_are_dissimilar_without_any_named_difference() -> None:
    found = match("bake a loaf of bread", "rotate the signing keys", similarity=0.05)

    assert (found.same, found.kind) == (False, "dissimilar")


def test_tool_calls_are_compared_by_tool_and_arguments() -> None:
    base = call("refund", order="A17", amount=20)

    assert compare(base, call("refund", amount=20.0, order="A17"), 0.9, FLOOR).same
    assert compare(base, call("cancel", order="A17", amount=20), 0.99, FLOOR).kind == (
        "different_tool"
    )
    other = compare(base, call("refund", order="A18", amount=20), 0.99, FLOOR)
    assert other.kind == "different_arguments"
    assert other.differences == ("order: A17 / A18",)
    assert not compare(base, call("refund", order="A17"), 0.99, FLOOR).same


def test_prose_in_an_argument_is_compared_as_prose() -> None:
    a = call("note", text="delete the temp directory right away", room=3)
    b = call("note", text="remove the temp folder right away", room=3)
    c = call("note", text="do not delete the temp directory right away", room=3)

    assert compare(a, b, ALIKE, FLOOR).same
    assert compare(a, c, ALIKE, FLOOR).kind == "different_polarity"


def test_code_is_the_same_only_token_by_token() -> None:
    a = call("sql", query="SELECT name FROM singers WHERE age > 20")
    spaced = call("sql", query="select name  from singers where age > 20")
    fixed = call("sql", query="SELECT name FROM singer WHERE age > 20")

    assert compare(a, spaced, 0.9, FLOOR).same
    assert not compare(a, fixed, 1.0, FLOOR).same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("删除临时目录", "创建临时目录"),
        ("удалить базу данных", "сохранить базу данных"),
        ("一時フォルダを削除", "一時フォルダを作成"),
        ("🔥", "🎉"),
        ("...", "!!!"),
        ("a", "b"),
    ],
)
def test_what_cannot_be_read_is_the_same_only_as_itself(a: str, b: str) -> None:
    assert not match(a, b, similarity=1.0).same
    assert match(a, a).same
    assert match(f" {a}", a).same


def test_latin_text_with_accents_can_be_read() -> None:
    assert match("supprimer le répertoire temporaire", "supprimer un répertoire temporaire").same
