"""The commands `eval pairs`, `eval repeats` and `eval conversations`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.command import Verb, Verbs

evaluation = typer.Typer(cls=Verbs, rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="JSONL, or a JSON list.")]


@evaluation.callback()
def _root() -> None:
    """Measure the guard on labelled data, beside simple baselines.

    Example: driftguard eval pairs pairs.jsonl
    """


@evaluation.command(cls=Verb)
def pairs(
    file: File,
    by_kind: Annotated[
        bool, typer.Option("--by-kind", help="Add the share matched of each kind of pair.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare labelled pairs of actions with their labels.

    An entry holds text_a, text_b (words, or a tool call with name and args) and same (true or
    false), and may hold kind and tier. AUC is that of the score; the rest is the decision at
    DRIFTGUARD_RETRIEVAL_MIN_SIMILARITY. Beside it: always the same, the same text, and plain
    cosine.

    Example: driftguard eval pairs pairs.jsonl --by-kind
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.pairs import score_pairs

    with bars() as progress:
        result = score_pairs(file, settings=options.load_settings(), progress=progress)
    if as_json:
        console.print_json(result.to_dict())
        return
    from driftguard_langgraph.evaluation.pair_report import render_pairs

    console.out().print(render_pairs(result, by_kind=by_kind))


@evaluation.command(cls=Verb)
def repeats(file: File, as_json: options.AsJson = False) -> None:
    """Replay steps with labelled repeats and count the warnings.

    Says how many of the repeats are warned, and how many of the successes are. An entry holds a
    step in the order of time: action_text or action_json, is_error, observation_text,
    stream_id, and the labels repeats_earlier_error, repeat_kind and ambiguous_success. Beside
    it: always warn, the same text (with and without successes that redeem it), and plain
    cosine.

    Example: driftguard eval repeats steps.jsonl --json
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.backtest import backtest

    with bars() as progress:
        result = backtest([file], settings=options.load_settings(), progress=progress)
    if as_json:
        console.print_json(result.figures_dict())
        return
    from driftguard_langgraph.evaluation.report import render_repeats

    console.out().print(render_repeats(result))


@evaluation.command(cls=Verb)
def conversations(file: File, as_json: options.AsJson = False) -> None:
    """Watch labelled conversations and say how well drift and attacks are told.

    An entry holds baseline (what the session was told), turns with role, content and off (true
    where the turn has left the purpose), and may hold attack (true or false), kind and set. AUC
    a turn is that of the score; attacks are told by their highest corruption. Beside it: the
    distance of the turn's embedding from the baseline's.

    Example: driftguard eval conversations labelled.jsonl --json
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.conversation_scores import score_conversations

    with bars() as progress:
        result = score_conversations(file, settings=options.load_settings(), progress=progress)
    if as_json:
        console.print_json(result.to_dict())
        return
    from driftguard_langgraph.evaluation.conversation_report import render_conversations

    console.out().print(render_conversations(result))
