"""Labels with spaCy's lemmas (extra `spacy`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.text.labels import Token, make_label

if TYPE_CHECKING:
    from spacy.language import Language

BLANK = "blank"
"""Name that stands for an empty pipeline with a lookup lemmatiser."""

# Neither adds to a lemma, and without them a text takes 40 % of the time.
_UNUSED_PIPES = ["parser", "ner"]


class SpacyNormalizer:
    """Labels with a spaCy pipeline, loaded at construction so that a missing one shows early.

    Args:
        model: `blank` (lookup lemmas of `language`) or the name of an installed pipeline.
        language: ISO 639-1 code; with an installed pipeline, the pipeline's own counts.

    Raises:
        MissingExtra: spaCy or its lookup tables are not installed.
        ConfigurationError: The pipeline is not installed, or the language has no table.
    """

    def __init__(self, model: str = BLANK, language: str = "en") -> None:
        try:
            import spacy
        except ImportError:
            raise MissingExtra.of("The spaCy normaliser", "spacy") from None
        del spacy
        self._nlp = _blank(language) if model == BLANK else _installed(model)
        self._lock = ForkSafeLock()

    def label(self, text: str) -> str:
        """Return the label of `text`."""
        return make_label(text, self._lemmas, self._nlp.lang)

    def _lemmas(self, head: str, words: Sequence[Token]) -> list[str]:
        # spaCy does not promise that one pipeline may run in two threads at a time.
        with self._lock:
            doc = self._nlp(head)
        found = {(token.idx, token.idx + len(token)): token.lemma_ for token in doc}
        return [found.get((word.start, word.end)) or word.text for word in words]


def _installed(model: str) -> Language:
    import spacy

    try:
        return spacy.load(model, exclude=_UNUSED_PIPES)
    except OSError as error:
        raise ConfigurationError(
            f"DriftGuard could not load the spaCy model '{model}'. "
            f"Install it with: python -m spacy download {model}"
        ) from error


def _blank(language: str) -> Language:
    import spacy

    try:
        nlp = spacy.blank(language)
    except ImportError as error:
        raise ConfigurationError(
            f"language={language!r} is not one spaCy knows. Set it to an ISO language code."
        ) from error
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    try:
        nlp.initialize()
    except ValueError as error:
        if not _has_lookups():
            raise MissingExtra.of("The lookup lemmatiser of spaCy", "spacy") from None
        raise ConfigurationError(
            f"language={language!r} has no lookup table in spaCy. Name an installed pipeline "
            "in spacy_model, or use normalizer='simplemma'."
        ) from error
    return nlp


def _has_lookups() -> bool:
    from importlib.util import find_spec

    return find_spec("spacy_lookups_data") is not None
