from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.languages import language_of, translated


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The gate is not open and that is fine.", None),
        ("Das Tor ist nicht offen und das ist gut.", "de"),
        ("La puerta no está abierta y los perros ladran.", "es"),
        ("Le portail est fermé et les chiens ne sont pas là.", "fr"),
        ("", None),
        ("12345 ###", None),
    ],
)
def test_the_language_of_a_message_is_known(text: str, code: str | None) -> None:
    assert language_of(text) == code


def test_words_of_norms_become_english_ones() -> None:
    assert "not required" in translated("ein helm ist nicht erforderlich", "de")
    assert "no longer" not in translated("le casque n'est plus obligatoire", "fr")
    assert "not mandatory" in translated("le casque n'est plus obligatoire", "fr")
    assert "without" in translated("sin casco", "es")


def test_chinese_is_read_without_spaces() -> None:
    assert "not required" in translated("进入车间不再需要头盔")
    assert "must not" in translated("不得进入车间")


def test_english_stays_as_it_is() -> None:
    assert translated("the helmet is not required") == "the helmet is not required"
