"""Cards of what the memory says: reviews, warnings, matches, counts, and the worth of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.html.cards import Fact, card, facts, folded, grid, line, share

Plain = Mapping[str, Any]

_MEANING = {
    "proceed": "no warning: the step may run",
    "warn": "the step may run, with the warning in view",
    "block": "the step must not run",
    "acknowledge": "somebody has to accept the risk first",
    "speed_bump": "not run this time; proposing it again passes",
    "override": "acknowledged, or proposed again: the step may run",
    "skipped": "nothing was looked up",
    "unavailable": "the memory could not be asked: the step may run",
}


def review_card(review: Plain) -> str:
    """Return the card of what `GuardReview.to_dict` returned."""
    decision = review["decision"]
    run_credit = review["run_credit"]
    return card(
        f"Review: {decision} ({_MEANING[decision]})",
        facts(
            [
                ("step", review["query"]),
                ("policy", review["policy"]),
                ("confidence", f"{review['confidence']:.2f}" if review["warnings"] else None),
                ("error", review["error"]),
                ("runs with it", None if run_credit is None else _runs(run_credit)),
            ]
        ),
        _recollections("Failed before", review["warnings"]),
        _recollections("Worked before", review["reinforcements"]),
        _look_alikes(review["related"]),
        _recollections("Muted: overridden again and again, and it worked", review["muted"]),
    )


def _look_alikes(those: Sequence[Plain]) -> str:
    rows = [
        (each["action_text"], each["match"]["kind"], ", ".join(each["match"]["differences"]))
        for each in those
    ]
    header = ("step", "told apart by", "because of")
    return grid("Looks alike and is not the same", header, rows, words=3)


def _runs(credit: Plain) -> str:
    return f"{credit['failed_runs']} failed and {credit['succeeded_runs']} succeeded in the end"


def _recollections(caption: str, those: Sequence[Plain]) -> str:
    words = ["tried", "came back", "led to", "worked instead", "matched"]
    rows = [[*_told(each), f"{each['frequency']}x", f"{each['confidence']:.2f}"] for each in those]
    if not any(each.get("remedy") for each in those):
        at = words.index("worked instead")
        words.pop(at)
        rows = [row[:at] + row[at + 1 :] for row in rows]
    return grid(caption, [*words, "seen", "confidence"], rows, words=len(words))


def _told(each: Plain) -> list[str]:
    texts = [each[name] for name in ("action_text", "feedback_text", "outcome_text")]
    return [*texts, each.get("remedy") or "-", _matched(each["match"])]


def _matched(match: Plain) -> str:
    shared = f", both with {', '.join(match['shared'])}" if match["shared"] else ""
    return f"{match['kind']}, similarity {match['similarity']:.2f}{shared}"


def recollection_card(title: str, recollection: Plain, explanation: str) -> str:
    """Return the card of one warning or reinforcement.

    Args:
        title: What it is.
        recollection: What `Recollection.to_dict` returned.
        explanation: Its `explain()`.
    """
    known: list[Fact] = [
        ("tried", recollection["action_text"]),
        ("came back", recollection["feedback_text"]),
        ("led to", recollection["outcome_text"]),
        ("worked instead", recollection.get("remedy")),
        ("seen", f"{recollection['frequency']}x, last {recollection['last_seen'][:10]}"),
        ("severity", recollection["severity"]),
        ("matched", _matched(recollection["match"])),
    ]
    heading = f"{title}, confidence {recollection['confidence']:.2f}"
    return card(heading, facts(known), folded("how the confidence comes about", line(explanation)))


def match_card(match: Plain) -> str:
    """Return the card of what `Match.to_dict` returned."""
    return card(
        "The same step" if match["same"] else "Not the same step",
        facts(
            [
                ("settled by", match["kind"]),
                ("score", f"{match['score']:.2f}"),
                ("similarity", f"{match['similarity']:.2f}"),
                ("told apart by", ", ".join(match["differences"])),
                ("in common", ", ".join(match["shared"])),
            ]
        ),
    )


def stats_card(stats: Plain) -> str:
    """Return the card of what `DriftGuard.stats` returned."""
    sides = [("failures", stats["mistakes"]), ("successes", stats["successes"])]
    return card(
        f"Memory: {stats['episodes']} episodes",
        grid(
            "What is remembered",
            ("kind", "episodes", "nodes", "edges"),
            [
                (name, *(str(side[count]) for count in ("episodes", "nodes", "edges")))
                for name, side in sides
            ],
        ),
    )


_ARMS = {
    "warned": "warned",
    "heeded": "of them heeded",
    "overridden": "of them overridden",
    "withheld": "kept silent (holdout)",
    "muted": "muted",
}


def worth_card(worth: Plain) -> str:
    """Return the card of what `Worth.to_dict` returned."""
    title = "Worth of the warnings: not known yet"
    if worth["lift"] is not None and worth["interval"] is not None:
        low, high = (100 * end for end in worth["interval"])
        title = (
            f"Worth of the warnings: {100 * worth['lift']:+.1f} points fewer failures where "
            f"warned ({worth['level']:.0%} interval {low:+.1f} to {high:+.1f})"
        )
    rows = [
        (name, str(worth[arm]["settled"]), str(worth[arm]["failed"]), share(worth[arm]["rate"]))
        for arm, name in _ARMS.items()
    ]
    return card(
        title,
        grid("Steps with a warning", ("warning", "settled", "failed", "failure rate"), rows),
        *map(line, worth["notes"]),
    )
