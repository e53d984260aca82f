"""When a note says that something it stands on is not in it."""

from __future__ import annotations

import time

import pytest

from firsthand_evals.probe.admission import admits


@pytest.mark.parametrize(
    "note",
    [
        "(2 of 4 lines kept)",
        "The rest: fh:01J00000000000000000000001",
        "The bill is $40. I no longer have the data that led to it.",
        "Not everything was written down.",
        "The terms of notice were not copied.",
        "Beware: entries are missing here.",
        "(fragment; what followed is gone)",
        "-- truncated --",
        "We only kept the first two.",
        "Album: 14 at 0.80, 6 at 1.10, etc.",
        "Die Einzelposten wurden nicht gespeichert.",
        "Faltan dos líneas.",
    ],
)
def test_what_says_that_it_was_not_kept_admits(note: str):
    """A word of keeping that is denied, or of losing that is not, admits when it speaks of the note."""
    assert admits(note)


@pytest.mark.parametrize(
    "note",
    [
        "(4 of 4 lines kept)",
        "Nothing was left out.",
        "No line is missing.",
        "All 5 readings kept, none left out.",
        "This note is complete.",
        "Breakfast is not included.",
        "Ines does not sit at the aisle.",
        "It is about 55, maybe a bit off.",
        "",
    ],
)
def test_what_says_that_all_is_there_or_speaks_of_its_matter_does_not(note: str):
    """Completeness, a hedge and an ordinary negation admit nothing."""
    assert not admits(note)


@pytest.mark.parametrize(
    "note",
    [
        "The total is $45: $40 plus the garden chairs.", "There are 30 plus 4 documents.", "x has no constant term.",
        "20 plus a figurine for $8 is $28.", "No registration fee was charged.", "No copies were ordered.",
        "Nobody came and no documentation is needed.",
    ],
)  # fmt: skip
def test_english_words_that_another_language_denies_with_admit_nothing(note: str):
    """What is "plus" or "no" in English is not taken for a loss in French or Spanish."""
    assert not admits(note)


def test_a_long_gap_behind_a_dash_takes_no_longer_than_it_is():
    """The text between brackets is bounded, and so is the gap before it: time is linear in both."""
    began = time.process_time()
    assert not admits("- " + " " * 20_000 + "x")
    assert time.process_time() - began < 20  # without the bound: hours


def test_what_the_session_says_itself_is_no_admission():
    """A loss that the session is about says nothing of the note; the same words about the note's basis do."""
    assert not admits("Lima lost the records office to Pohl.", "Lima lost the records office to Pohl.")
    assert admits("Lima lost the records office to Pohl.", "Who runs the office?")
    assert admits("Lima won. (Basis lost.)", "Lima lost to Pohl.")


@pytest.mark.parametrize(
    "text",
    [
        "Der Rest fehlt.", "(nicht notiert)", "Le détail du calcul n'a pas été conservé.", "seulement 2 détails sur 3",
        "No se guardó de dónde sale.", "(no se guardó)", "I dati di partenza non sono stati conservati.",
        "Os dados não foram guardados.", "De gegevens zijn niet bewaard.", "Dane nie zostały zachowane.",
        "Исходные данные не сохранились.", "(не сохранено)", "[未保存]", "根拠は失われました",
        "3件のうち2件しか残っていません。", "only 2 of the 3 details made it", "kim: <lost while shortening>",
    ],
)  # fmt: skip
def test_other_languages_and_placeholders_admit(text: str):
    """A loss is admitted in other languages, in a count, and where a value stood."""
    assert admits(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nichts fehlt.", "Mémo complet, rien n'a été omis.", "Nota completa, no falta nada.", "Não falta nada.",
        "Niczego nie brakuje.", "Записано полностью, ничего не пропущено.", "漏れはありません。", "3 из 3 записей",
        "Ohne Gewähr: 55.", "Sauf erreur.", "念のため要確認。", "\u041d\u0435 перепроверено.",
        "Está todo: 3 de 3 datos.",
    ],
)  # fmt: skip
def test_a_denied_loss_and_a_hedge_admit_nothing_in_other_languages(text: str):
    """What says that nothing was lost, or is not sure of itself, admits nothing."""
    assert not admits(text)
