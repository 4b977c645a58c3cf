"""When evidence silences a warning. Pure.

A warning says that a step will fail. Where the step was run all the same and worked, the
warning was wrong; where that goes on, it is noise, and noise costs the warnings that are right
their audience. The next failure of a step like this one brings the warning back, so only what
happened since the last one counts.
"""

from __future__ import annotations

CREDIBILITY = 0.95
"""How sure one has to be that a warning is wrong more often than right: the usual level."""

HALF = 0.5
"""A warning that is wrong as often as right says nothing."""

SAMPLE = 10
"""Remembered successes that are looked at; the newest ones."""


def is_noise(successes: int) -> bool:
    """Say whether a warning is noise after so many successes in spite of it, and no failure.

    With the uniform prior the share of successes has the posterior Beta(n + 1, 1) (Bayes and
    Laplace; Gelman et al., Bayesian Data Analysis, 2.1), which is above one half with
    probability `1 - 0.5 ** (n + 1)`: four successes in a row are enough, three are not.

    Args:
        successes: How often the step ran in spite of the warning and worked, since it failed.
    """
    return 1 - HALF ** (successes + 1) >= CREDIBILITY


MIN_SUCCESSES = next(n for n in range(SAMPLE) if is_noise(n))
"""With fewer, nobody has to look any further."""
