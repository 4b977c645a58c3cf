"""The normaliser seam: readable labels for nodes. What is compared is the text as written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, runtime_checkable

# Its import reads a folder: here, and not in a constructor that may run in an event loop.
from simplemma import Lemmatizer
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.labels import Token, make_label


@runtime_checkable
class Normalizer(Protocol):
    """Turns a text into the label of its node. Implementations are thread-safe."""

    def label(self, text: str) -> str:
        """Return a short, readable form of `text` that keeps its meaning; never empty."""


class SimplemmaNormalizer:
    """Labels with the lemma tables of `simplemma`; the default.

    Args:
        language: ISO 639-1 code, for example `en`.

    Raises:
        ConfigurationError: simplemma has no table for the language.
    """

    def __init__(self, language: str = "en") -> None:
        if language not in SUPPORTED_LANGUAGES:
            raise ConfigurationError(
                f"language={language!r} has no lemma table. Set it to an ISO language code, "
                f"one of: {', '.join(sorted(SUPPORTED_LANGUAGES))}."
            )
        self._language = language
        self._lemmatizer = Lemmatizer()

    def label(self, text: str) -> str:
        """Return the label of `text`; the table is loaded with the first one."""
        return make_label(text, self._lemmas, self._language)

    def _lemmas(self, head: str, words: Sequence[Token]) -> list[str]:
        return [self._lemmatizer.lemmatize(word.text, self._language) for word in words]


def checked_normalizer(given: object) -> Normalizer:
    """Return a normaliser that a caller gave.

    Raises:
        ConfigurationError: It is none.
    """
    usable = callable(getattr(given, "label", None)) and not isinstance(given, type)
    if not usable or not isinstance(given, Normalizer):
        raise ConfigurationError(
            f"normalizer must be an object with a method `label(text)`, not {given!r}. The "
            "built-in ones are named by the setting: DriftGuardSettings(normalizer='spacy')."
        )
    return given


def resolve_normalizer(settings: DriftGuardSettings) -> Normalizer:
    """Return the normaliser the settings name; the same settings share one.

    Args:
        settings: `normalizer`, `language` and `spacy_model` decide.

    Raises:
        ConfigurationError: No table for the language, or the spaCy pipeline is not installed.
        MissingExtra: `normalizer="spacy"` without the extra `spacy`.
    """
    return _shared(settings.normalizer, settings.language, settings.spacy_model)


@lru_cache(maxsize=8)
def _shared(normalizer: str, language: str, spacy_model: str) -> Normalizer:
    if normalizer == "spacy":
        from driftguard_langgraph.text.spacy_normalizer import SpacyNormalizer

        return SpacyNormalizer(spacy_model, language)
    return SimplemmaNormalizer(language)
