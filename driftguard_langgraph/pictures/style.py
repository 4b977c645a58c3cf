"""Colours and sizes: the palette of Okabe and Ito, which the colour-blind can tell apart.

No colour stands alone: what it says is also said by place, width, pattern or word.
"""

from __future__ import annotations

PAPER = "#ffffff"
INK = "#1f2933"
SOFT = "#5b6672"
"""Text beside the point; 5.9 : 1 on paper."""
LINE = "#cbd2d9"
WASH = "#f4f6f8"
REST = "#c3cbd3"
"""What is there but not named."""

FAILURE = "#d55e00"
SUCCESS = "#009e73"
CHAINS = ("#0072b2", "#e69f00", "#cc79a7", "#56b4e9", "#ddcc77", "#999933")
"""The strongest chains, in this order; none looks like failure or success."""

TITLE, BODY, SMALL, TINY = 14.0, 10.5, 9.0, 7.5
"""Sizes of letters, in points."""

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that a picture is the same everywhere."""

SCORE = "#0072b2"
ALARM = FAILURE
BANDS = ("#eef4f9", "#f7f2e4", "#f9e8cf", "#f6d9c4", "#efc7b8")
"""The verdicts, FRESH to CRITICAL; the lower, the darker."""
FEATURES = "Blues"
"""Map of matplotlib for the distance of a feature: the darker, the farther."""
