"""The records that a memory store takes and gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.types import Action, NodeType, Severity

Vector = NDArray[np.float32]
"""One unit vector, shape `(dimension,)`."""


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which model made the stored vectors, and how long they are."""

    model_id: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Placed:
    """One text of an episode with the graph node it belongs to.

    Attributes:
        text: The text as written.
        node: Id of the node, unique within namespace, kind and role.
        vector: Embedding of `text`.
        created: Whether the node did not exist before.
    """

    text: str
    node: str
    vector: Vector
    created: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the three texts of an episode belong."""

    action: Placed
    feedback: Placed
    outcome: Placed

    def items(self) -> Iterator[tuple[NodeType, Placed]]:
        """Yield each role with its placed text."""
        yield "action", self.action
        yield "feedback", self.feedback
        yield "outcome", self.outcome


@dataclass(frozen=True, slots=True)
class Appended:
    """What `append` did.

    Attributes:
        stored: False when an episode with this id was there already; nothing changed then.
        edges_created: How many of the two links were new, 0..2.
    """

    stored: bool
    edges_created: int = 0


@dataclass(frozen=True, slots=True)
class Wording:
    """One distinct text of a kind and role.

    Attributes:
        node: Id of the graph node it was placed in.
        action: The text; for the role `action` with the tool call, if it is one.
        similarity: Cosine to the query of `search`; 1.0 from look-ups by text or node.
    """

    node: str
    action: Action
    similarity: float = 1.0


EPISODE_SAMPLE = 5
"""Episode ids carried by a `ChainPath`: enough to look the evidence up, bounded for state."""


@dataclass(frozen=True, slots=True)
class ChainPath:
    """Every episode with the same action, feedback and outcome node, counted.

    Attributes:
        action, feedback, outcome: Node ids.
        frequency: Number of episodes.
        first_seen, last_seen: Oldest and newest `created_at`.
        last_used: When a warning from it was last shown, if ever.
        severity: The worst one observed.
        feedback_text, outcome_text: Texts of the newest episode, as written.
        episode_ids: The newest episodes, at most `EPISODE_SAMPLE`.
    """

    action: str
    feedback: str
    outcome: str
    frequency: int
    first_seen: datetime
    last_seen: datetime
    last_used: datetime | None
    severity: Severity
    feedback_text: str
    outcome_text: str
    episode_ids: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """The three node ids."""
        return self.action, self.feedback, self.outcome

    @property
    def last_active(self) -> datetime:
        """When it was last seen or used; what staleness is measured from."""
        return self.last_seen if self.last_used is None else max(self.last_seen, self.last_used)


RunScope = Literal["thread", "run"]
"""What a verdict is about: all episodes of a `thread_id`, or those of a `run_id`."""

WEIGHED_EPISODES = 300
"""The newest episodes of a step, whose runs count for it: more than it takes to make up one's
mind, and few enough to be counted in some milliseconds."""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """How a whole run ended.

    Attributes:
        scope: Whether `run` is the id of a thread or of a run.
        run: The id.
        success: Whether it ended well.
        outcome: What it led to.
        severity: How bad or valuable that was.
        decided_at: When the verdict was given.
    """

    scope: RunScope
    run: str
    success: bool
    outcome: str
    severity: Severity
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class RunKept:
    """What `set_run` did.

    Attributes:
        replaced: Whether there was a verdict about the run before.
        actions: Distinct actions among the episodes of the run.
    """

    replaced: bool
    actions: int


class RunShare(NamedTuple):
    """What one verdict says about some actions.

    Attributes:
        success: The verdict.
        share: How much of the run they were, by distinct actions, above 0 and up to 1.
    """

    success: bool
    share: float
