"""The commands that ask and feed the memory: `review`, `record`, `stats`, `prune`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.progress import working
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.types import Severity


def review(
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The step, in words.")] = None,
    tool: options.Tool = None,
    args: options.Args = None,
    policy: options.Policy = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Ask the memory about a step before it runs.

    What comes back are the warnings with their evidence, what worked instead, and what is
    alike and not the same. Nothing is recorded. A memory that cannot be reached lets the step
    pass, with a line on stderr, unless DRIFTGUARD_ON_STORE_ERROR is closed.

    Exit code 3 if the policy refuses the step.

    Example: driftguard review "clear out the tmp folder" --policy block
    Example: driftguard review --tool apply_migration --args '{"env": "production"}'
    """
    action = _action(text, tool, args)
    with working("asking the memory"), options.open_guard(db, namespace) as guard:
        answer = guard.review(action, policy=policy)
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
    severity: options.Severity = "medium",
    episode_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Recording the same id again changes nothing."),
    ] = None,
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell the memory how a step went.

    Give three texts, each in quotes: what was tried, what came back, and what it led to. With
    --tool the call is what was tried, and two texts remain.

    Example: driftguard record "delete the temp directory" "cache was wiped" "slow build"
    Example: driftguard record --tool deploy "timeout" "site was down" --severity high
    Example: driftguard record "compress old logs" "16 GB freed" "builds run" --success
    """
    call = options.tool_call(tool, args)
    given = [call, *texts] if call is not None else list(texts)
    if len(given) != 3:
        expected = "FEEDBACK OUTCOME" if call is not None else "ACTION FEEDBACK OUTCOME"
        found = console.counted(len(texts), "text")
        raise ConfigurationError(f"expected {expected}, got {found}: quote each.")
    action, feedback, outcome = cast("tuple[str | dict[str, Any], str, str]", given)
    with working("recording"), options.open_guard(db, namespace, must_answer=True) as guard:
        keep = guard.record_success if success else guard.record
        receipt = keep(
            action,
            feedback,
            outcome,
            severity=cast("Severity", severity),
            episode_id=episode_id,
            provenance={"source": "cli"},
        )
    if as_json:
        console.print_json(receipt)
        return
    typer.echo(
        f"{receipt['status']}: {receipt['kind']} {receipt['episode_id']} "
        f"({console.counted(receipt['nodes_created'], 'new node')}, "
        f"{receipt['nodes_merged']} merged)"
    )


def stats(
    namespace: options.Namespace = None, db: options.Db = None, as_json: options.AsJson = False
) -> None:
    """Say how much is remembered.

    Counts the episodes of a namespace, and what they share: nodes are texts that mean the
    same, edges lead from a step to what came back and on to what it led to.

    Example: driftguard stats
    Example: driftguard stats --namespace acme --namespace user-7 --json
    """
    with (
        working("opening the memory"),
        options.open_guard(db, namespace, must_exist=True) as guard,
    ):
        counts, where, name = guard.stats(), guard.store.location(), guard.namespace
    if as_json:
        console.print_json(counts)
        return
    from driftguard_langgraph.cli.render import counts_table

    typer.echo(f"{where}, namespace {'/'.join(name)}")
    typer.echo(console.counted(counts["episodes"], "episode"))
    console.out().print(counts_table(_by_kind(counts)))


def prune(
    namespace: options.Namespace = None, db: options.Db = None, as_json: options.AsJson = False
) -> None:
    """Forget what is stale.

    Weak links go first, then stale nodes, then isolated ones. What was seen or used within
    DRIFTGUARD_PRUNE_NODE_STALE_DAYS days stays.

    Example: driftguard prune
    """
    with working("pruning"), options.open_guard(db, namespace, must_exist=True) as guard:
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
