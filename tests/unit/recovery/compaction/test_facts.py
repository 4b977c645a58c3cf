from __future__ import annotations

import pytest

from driftguard_langgraph.recovery.compaction.facts import Fact, FactIndex, facts_of


def kinds(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, fact.text) for fact in facts_of(text)]


def only(text: str) -> Fact:
    (fact,) = facts_of(text)
    return fact


@pytest.mark.parametrize(
    "ways",
    [
        ("it has 1,000 rows", "it has 1000 rows", "it has 1k rows", "it has one thousand rows"),
        ("pay $1,250.50", "pay 1250.50 dollars", "pay USD 1250.50", "pay 1.250,50 US dollars"),
        ("wait 24 hours", "wait one day", "a 24-hour wait", "wait 1440 minutes"),
        ("on 14 March 2026", "on March 14, 2026", "on 2026-03-14", "on the 14th of March 2026"),
        ("at 5 pm", "at 17:00", "at 5:00 p.m.", "at 5pm"),
        ("it is 15%", "it is 15 percent", "it is fifteen per cent".replace("per cent", "percent")),
        ("it weighs 2 kg", "it weighs 2000 grams", "it weighs two kilograms"),
        ("costs $2.5M", "costs 2.5 million dollars", "costs $2,500,000"),
        ("there are one hundred and five", "there are 105"),
        ("there are 12 of them", "there is a dozen of them"),
    ],
)
def test_one_quantity_has_one_key_however_it_is_written(ways: tuple[str, ...]) -> None:
    assert len({only(text).key for text in ways}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pay $50", "pay €50"),
        ("it is 15%", "it is 15 kg"),
        ("on 14 March 2026", "on 15 March 2026"),
        ("at 5 pm", "at 5 am"),
        ("wait 30 days", "wait 30 hours"),
        ("ratio 3:1", "ratio 1:3"),
        ("it is -15 there", "it is 15 there"),
        ("order AB-1204", "order AB-1205"),
    ],
)
def test_other_quantities_have_other_keys(one: str, other: str) -> None:
    assert only(one).key != only(other).key
    assert only(one) not in FactIndex([other])


def test_every_kind_of_fact_is_found() -> None:
    text = (
        "Please write to ana.silva@example.org or see https://example.org/a?b=1 about ticket "
        "QX-2210, saved in /var/log/app.log, for the NATO desk of Ana Silva: ratio 3:1, 12%, "
        "$40, at 9:30 on 2 May 2025, 117 pages."
    )
    assert {kind for kind, _ in kinds(text)} == {
        "email", "url", "identifier", "path", "acronym", "name", "ratio", "percentage",
        "amount", "time", "date", "number",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Refunds take a while. Customers wait. Nothing else happens.",
        "NEVER TELL THEM ABOUT THIS",
        "You must NOT do that, and ONLY that.",
        "- First point\n- Second point\n12. Twelfth point",
        "There are 3 of them, and I saw two.",
        "The customer pays. Ask the Customer.",
        "",
        "   \n\n ",
        "…!?",
    ],
)
def test_what_names_nothing_is_no_fact(text: str) -> None:
    assert facts_of(text) == ()


def test_a_capital_that_opens_a_sentence_makes_no_name_but_belongs_to_one() -> None:
    assert kinds("Maria called. Then we met Maria.") == [("name", "Maria")]
    (name,) = facts_of("Maria Lopez called.")
    assert name.text == "Maria Lopez"
    assert name in FactIndex(["the call was from lopez"])


def test_names_are_looked_for_by_whole_words_without_case() -> None:
    (name,) = facts_of("we met Ann there")
    assert name in FactIndex(["ANN was there"])
    assert name not in FactIndex(["Annual report"])


def test_an_acronym_is_no_pronoun() -> None:
    (country,) = facts_of("it was shipped from the US last week")
    assert country.kind == "acronym"
    assert country not in FactIndex(["they told us nothing"])


def test_a_full_date_answers_for_its_day_but_not_the_other_way_round() -> None:
    day, full = only("on 14 March"), only("on 14 March 2026")
    assert day in FactIndex(["on 2026-03-14"])
    assert full not in FactIndex(["on 14 March"])


def test_other_scripts_keep_their_numbers_and_names() -> None:
    assert ("number", "8812") in kinds("Заказ 8812 для Анны Петровой.")
    assert ("name", "Анны Петровой") in kinds("Заказ 8812 для Анны Петровой.")
    assert [text for _, text in kinds("注文は15,000円、2026年です。")] == ["15,000", "2026"]
    arabic = only("المبلغ ١٢٥٠ فقط")
    assert arabic.key == "n:1250"


def test_german_nouns_are_no_names() -> None:
    text = (
        "Der Kunde hat die Rechnung und den Vertrag in der Filiale mit dem Berater geprüft und "
        "die Gebühr an der Kasse mit der Karte bezahlt, dann hat Peter Maurer die Quittung und "
        "den Schlüssel in den Schrank im Keller neben die Treppe gelegt."
    )
    assert kinds(text) == [("name", "Peter Maurer")]


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1,",
        "/.",
        "a@",
        "A ",
        "1-",
        "http://",
        "- ",
        "million ",
        "x.y",
        "\n",
        "[",
        "\uff19",
        "\ud800",
    ],
)
def test_rows_of_anything_are_read_to_their_end(piece: str) -> None:
    assert len(facts_of(piece * 5_000)) <= 2
