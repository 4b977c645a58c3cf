"""Every error the package raises on purpose, in one tree.

    DriftGuardError
    ├── ConfigurationError (ValueError)      a setting, policy or argument is wrong
    ├── InvalidEpisode (ValueError)          text that cannot be remembered or reviewed
    ├── EmbeddingError                       the embedder failed or returned nonsense
    ├── StoreError
    │   ├── StoreUnavailable                 locked, closed, unreachable: try again
    │   ├── SchemaMismatch                   another application's, version's or model's data
    │   └── CorruptStore                     the file is damaged
    ├── GuardrailTriggered                   the policy says: do not run this step
    ├── GuardrailAcknowledgementRequired     the policy says: ask somebody first
    ├── RepeatLimitReached                   an agent makes the same call to no avail
    ├── DriftAlarm                           a session works against what it was told
    ├── ReplyNotScored                       a wrapped client's reply is there, its score is not
    └── MissingExtra (ImportError)           an optional dependency is not installed

Each message says what is wrong and what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftguard_langgraph.drift.report import DriftReport
    from driftguard_langgraph.reviews import GuardReview


class DriftGuardError(Exception):
    """Base class of every error this package raises on purpose."""


class ConfigurationError(DriftGuardError, ValueError):
    """A setting, a policy name or an argument is not one the package knows or accepts."""


class InvalidEpisode(DriftGuardError, ValueError):
    """An action, feedback or outcome that can be neither remembered nor reviewed."""


class EmbeddingError(DriftGuardError):
    """The embedding model could not be loaded, failed, or returned unusable vectors."""


class StoreError(DriftGuardError):
    """The memory store could not do what was asked."""


class StoreUnavailable(StoreError):
    """The store is locked, closed or unreachable at the moment; the call may succeed later."""


class SchemaMismatch(StoreError):
    """The store holds data of another application, a newer version or another embedding model."""


class CorruptStore(StoreError):
    """The stored data is damaged."""


class _Refusal(DriftGuardError):
    """A policy decided that the step must not run now.

    Attributes:
        review: The review that led to the refusal, with the evidence.
    """

    def __init__(self, message: str, review: GuardReview) -> None:
        super().__init__(message)
        self.review = review

    def __reduce__(self) -> tuple[type[_Refusal], tuple[str, GuardReview]]:
        return type(self), (str(self), self.review)


class GuardrailTriggered(_Refusal):
    """The step repeats a remembered failure and the policy is to stop it.

    Raised by the policies `block` and, for the first proposal, `speed_bump`.
    """


class GuardrailAcknowledgementRequired(_Refusal):
    """The step repeats a remembered failure and somebody has to accept that first."""


class RepeatLimitReached(DriftGuardError):
    """An agent made the same tool call again and again, and it had the same result each time.

    Attributes:
        call: The call that was not run once more.
        times: How often it had the same result.
    """

    def __init__(self, message: str, call: dict[str, Any], times: int) -> None:
        super().__init__(message)
        self.call = call
        self.times = times

    def __reduce__(self) -> tuple[type[RepeatLimitReached], tuple[str, dict[str, Any], int]]:
        return type(self), (str(self), self.call, self.times)


class DriftAlarm(DriftGuardError):
    """The drift monitor raised its alarm, and whoever asked for it wanted that to be an error.

    Attributes:
        report: The report of the turn, with the evidence.
    """

    def __init__(self, message: str, report: DriftReport) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[type[DriftAlarm], tuple[str, DriftReport]]:
        return type(self), (str(self), self.report)


class ReplyNotScored(DriftGuardError):
    """The model has answered, its answer could not be scored, and that shall be an error.

    Attributes:
        reply: What the client would have returned; None at the end of a stream.
    """

    def __init__(self, message: str, reply: object = None) -> None:
        super().__init__(message)
        self.reply = reply

    def __reduce__(self) -> tuple[type[ReplyNotScored], tuple[str, object]]:
        return type(self), (str(self), self.reply)


class MissingExtra(DriftGuardError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def of(cls, feature: str, extra: str) -> MissingExtra:
        """Build the error for one feature.

        Args:
            feature: What the caller wanted, as the subject of a sentence.
            extra: Name of the extra that brings the dependency.
        """
        install = f'pip install "driftguard-langgraph[{extra}]"'
        return cls(f"{feature} needs the extra '{extra}'. Install it with: {install}")
