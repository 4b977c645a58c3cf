"""The commands that ask and feed the memory: `review`, `record`, `stats`, `prune`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.errors import ConfigurationError, StoreUnavailable

if TYPE_CHECKING:
    from driftguard_langgraph.types import Severity


def review(
    text: Annotated[str | None, typer.Argument(help="The step, in words.")] = None,
    tool: options.Tool = None,
    args: options.Args = None,
    policy: Annotated[
        str | None,
        typer.Option(help="warn, block, acknowledge, speed_bump or record_only."),
    ] = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Ask the memory about a step before it runs.

    Exit code 0: it may run (with the warnings that are printed). 3: the policy refuses it.

    Example: driftguard review "clear out the tmp folder" --policy block
    """
    action = _action(text, tool, args)
    with options.open_guard(db, namespace) as guard:
        answer = guard.review(action, policy=policy)
    if answer.error is not None:
        console.fail(f"the memory could not be asked: {answer.error}")
    if as_json:
        console.print_json(answer.to_dict())
    else:
        from driftguard_langgraph.cli.render import review_lines

        console.out().print(review_lines(answer.to_dict()))
    if not answer.may_run:
        raise typer.Exit(console.EXIT_REFUSED)


def record(
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="[ACTION] FEEDBACK OUTCOME",
            help="What was tried (left out with --tool), what came back, what it led to.",
        ),
    ],
    tool: options.Tool = None,
    args: options.Args = None,
    success: Annotated[bool, typer.Option("--success", help="It worked.")] = False,
    severity: Annotated[str, typer.Option(help="low, medium, high or critical.")] = "medium",
    episode_id: Annotated[
        str | None, typer.Option(help="Recording the same id again changes nothing.")
    ] = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell the memory how a step went.

    Example: driftguard record "delete the temp directory" "build cache was wiped"
    "next build took 40 minutes"
    """
    call = options.tool_call(tool, args)
    given = [call, *texts] if call is not None else list(texts)
    if len(given) != 3:
        expected = "FEEDBACK OUTCOME" if call is not None else "ACTION FEEDBACK OUTCOME"
        raise ConfigurationError(f"expected {expected}, got {len(texts)} texts: quote each.")
    action, feedback, outcome = cast("tuple[str | dict[str, Any], str, str]", given)
    with options.open_guard(db, namespace) as guard:
        keep = guard.record_success if success else guard.record
        receipt = keep(
            action,
            feedback,
            outcome,
            severity=cast("Severity", severity),
            episode_id=episode_id,
            provenance={"source": "cli"},
        )
    if receipt["status"] == "unavailable":
        raise StoreUnavailable(f"nothing was recorded: {receipt['error']}")
    if as_json:
        console.print_json(receipt)
        return
    typer.echo(
        f"{receipt['status']}: {receipt['kind']} {receipt['episode_id']} "
        f"({receipt['nodes_created']} new nodes, {receipt['nodes_merged']} merged)"
    )


def stats(
    namespace: options.Namespace = None, db: options.Db = None, as_json: options.AsJson = False
) -> None:
    """Say how much is remembered.

    Example: driftguard stats --json
    """
    with options.open_guard(db, namespace, must_exist=True) as guard:
        counts, where, name = guard.stats(), guard.store.location(), guard.namespace
    if as_json:
        console.print_json(counts)
        return
    from driftguard_langgraph.cli.render import counts_table

    typer.echo(f"{where}, namespace {'/'.join(name)}")
    typer.echo(f"{counts['episodes']} episodes")
    console.out().print(counts_table(_by_kind(counts)))


def prune(
    namespace: options.Namespace = None, db: options.Db = None, as_json: options.AsJson = False
) -> None:
    """Forget what is stale: weak links first, then stale nodes, then isolated ones.

    What was seen or used within DRIFTGUARD_PRUNE_NODE_STALE_DAYS days stays.

    Example: driftguard prune
    """
    with options.open_guard(db, namespace, must_exist=True) as guard:
        removed = guard.prune()
    if as_json:
        console.print_json(removed)
        return
    from driftguard_langgraph.cli.render import counts_table

    console.out().print(counts_table(_by_kind(removed)))


def _action(text: str | None, tool: str | None, args: str | None) -> str | dict[str, Any]:
    call = options.tool_call(tool, args)
    if (call is None) == (text is None):
        raise ConfigurationError("give the step either as TEXT or as --tool NAME [--args JSON].")
    return call if call is not None else cast("str", text)


def _by_kind(counts: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {kind: counts[kind] for kind in ("mistakes", "successes")}
