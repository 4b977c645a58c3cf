"""What the ends of whole runs say about a step: shared credit, never one culprit.

Most failed runs hold no failed step, and who looks at a trace for the decisive one finds it
rarely. So a verdict about a run is spread over its actions, and a step becomes suspect only
when run after run with it ends badly.
"""

from __future__ import annotations

from collections.abc import Collection

from driftguard_langgraph.types import RunCredit

PRIOR = 2.0
"""Failed and succeeded runs that every step is taken to have behind it, all by itself: "add
two successes and two failures" (Agresti and Coull 1998). One failed run of a single action
leaves a suspicion of 3/5, one of five actions 2.2/4.2."""

UNSUSPICIOUS = 0.5
"""Suspicion without any evidence; the mean of the prior."""


def run_credit(shares: Collection[tuple[bool, float]]) -> RunCredit | None:
    """Weigh the runs that a step was part of.

    Args:
        shares: For each run with a verdict, whether it succeeded and the step's share in it,
            0..1.

    Returns:
        None when there is no such run.
    """
    if not shares:
        return None
    failed = [share for success, share in shares if not success]
    succeeded = [share for success, share in shares if success]
    blame, credit = sum(failed), sum(succeeded)
    return RunCredit(
        failed_runs=len(failed),
        succeeded_runs=len(succeeded),
        blame=blame,
        credit=credit,
        suspicion=(blame + PRIOR) / (blame + credit + 2 * PRIOR),
    )


def run_trust(credit: RunCredit | None) -> float:
    """Return what the ends of its runs leave of the trust in a step that worked, 0..1.

    All of it, unless its runs failed more than they succeeded.
    """
    suspicion = UNSUSPICIOUS if credit is None else credit.suspicion
    return min((1.0 - suspicion) / (1.0 - UNSUSPICIOUS), 1.0)
