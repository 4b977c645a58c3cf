"""Labels keep meaning: what they drop, what they keep, how long they get."""

from __future__ import annotations

import sys

import pytest

from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.labels import MAX_LABEL_CHARS
from driftguard_langgraph.text.normalizer import (
    Normalizer,
    SimplemmaNormalizer,
    resolve_normalizer,
)


@pytest.fixture(scope="module")
def english() -> SimplemmaNormalizer:
    return SimplemmaNormalizer("en")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("delete the temp directory", "delete temp directory"),
        ("build cache was wiped", "build cache wipe"),
        ("next build took 40 minutes", "next build take 40 minute"),
        ("clear out /tmp before the run", "clear out /tmp before run"),
        ("cache directory got removed", "cache directory get remove"),
        ("remove everything under the tmp folder", "remove everything under tmp folder"),
        ("duplicate charge risk, run aborted", "duplicate charge risk run abort"),
        ("Please  delete\nthe cache, please!", "delete cache"),
        ("A file was deleted", "file delete"),
        ("was running", "be run"),
        ("it is there", "it is there"),
        ("Résumé der naïve cafés", "résumé der naïve café"),
        ("(see [the] notes) — done...", "see note done"),
    ],
)
def test_a_label_says_it_in_fewer_plain_words(
    english: SimplemmaNormalizer, text: str, label: str
) -> None:
    assert english.label(text) == label


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf ./build && make",
        "kubectl delete pod Web-0 -n PROD",
        "open README.md in CamelCase",
        "cd ..",
        "set MAX_RETRIES=3",
        "C:\\Temp\\Users.txt",
        "rename \"The Users\" to 'New Users'",
        "run `Make Clean` twice",
        "delete user@Example.com",
        "wait 5% of 12:30",
        'delete_file(force=true, path="/tmp/The Users,  old")',
        "删除临时目录",
    ],
)
def test_identifiers_quotes_and_tool_calls_keep_their_form(
    english: SimplemmaNormalizer, text: str
) -> None:
    assert english.label(text) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("delete the cache", "don't delete the cache"),
        ("delete the cache", "do not delete the cache"),
        ("run with retries", "run without retries"),
        ("turn the feature on", "turn the feature off"),
        ("scale up the workers", "scale down the workers"),
        ("migrate before the deploy", "migrate after the deploy"),
        ("copy from staging to prod", "copy to staging from prod"),
        ("delete one file", "delete two files"),
        ("delete the old backups", "delete the oldest backups"),
        ("try seven times", "try the seventh time"),
        ("the fix is bad", "the fix is worse"),
        ("switch to plan A", "switch to plan"),
        ("the cache is wiped", "is the cache wiped?"),
        ("delete Users.txt", "delete users.txt"),
        ("delete the user", "the user is deleting"),
        ("it can be undone", "it can't be undone"),
    ],
)
def test_what_changes_the_meaning_changes_the_label(
    english: SimplemmaNormalizer, one: str, other: str
) -> None:
    assert english.label(one) != english.label(other)


@pytest.mark.parametrize("text", ["the", " ... ", "?", "please", "🎉", '"', "''", "(((", "-"])
def test_a_text_without_a_word_is_its_own_label(english: SimplemmaNormalizer, text: str) -> None:
    assert english.label(text) == text.strip()


def test_a_curly_apostrophe_is_a_straight_one(english: SimplemmaNormalizer) -> None:
    assert english.label("Don’t stop") == english.label("don't stop") == "don't stop"


def test_composed_and_decomposed_letters_share_a_label(english: SimplemmaNormalizer) -> None:
    assert english.label("cafe\u0301") == english.label("caf\u00e9")


def test_long_texts_are_cut_and_do_not_share_a_label(english: SimplemmaNormalizer) -> None:
    start = "restart worker " * 200
    one, other = english.label(start + "one"), english.label(start + "two")
    assert one != other
    assert one[:100] == other[:100] == ("restart worker " * 20)[:100]
    assert len(one) == len(other) == MAX_LABEL_CHARS
    assert one[-9] == "…"


def test_a_label_may_be_as_long_as_the_limit(english: SimplemmaNormalizer) -> None:
    text = "x" * MAX_LABEL_CHARS
    assert english.label(text) == text
    assert english.label(text + "x")[-9] == "…"


def test_a_long_text_of_dropped_words_still_has_its_own_label(
    english: SimplemmaNormalizer,
) -> None:
    assert english.label("please " * 500 + "stop") != english.label("please " * 500 + "go")


@pytest.mark.parametrize("unit", ['"', "(", "' ", "“", "a'", "the ", ") ", " \n"])
def test_a_megabyte_of_anything_gets_a_short_label(english: SimplemmaNormalizer, unit: str) -> None:
    assert len(english.label("x" + unit * (1_000_000 // len(unit)))) <= MAX_LABEL_CHARS


@pytest.mark.parametrize(
    ("language", "text", "label"),
    [
        ("de", "Lösche die alten Dateien, bitte", "lösche alt datei"),
        ("de", "Schalte das Licht ein", "schalte licht ein"),
        ("fr", "supprimer les fichiers", "supprimer fichier"),
        ("es", "borrar los archivos sin copia", "borrar archivo sin copia"),
    ],
)
def test_other_languages_have_their_own_lemmas(language: str, text: str, label: str) -> None:
    assert SimplemmaNormalizer(language).label(text) == label


@pytest.mark.parametrize("language", ["xx", "english", "EN-us"])
def test_an_unknown_language_is_refused_with_the_known_ones(language: str) -> None:
    with pytest.raises(ConfigurationError, match=r"ISO language code.* de, .* en,"):
        SimplemmaNormalizer(language)


def test_equal_settings_share_one_normalizer() -> None:
    default = resolve_normalizer(DriftGuardSettings())
    assert isinstance(default, SimplemmaNormalizer)
    assert isinstance(default, Normalizer)
    assert resolve_normalizer(DriftGuardSettings()) is default
    assert resolve_normalizer(DriftGuardSettings(language="de")) is not default


def test_spacy_without_its_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[spacy\]"):
        resolve_normalizer(DriftGuardSettings(normalizer="spacy", language="nb"))
