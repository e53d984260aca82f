"""What the notes of the second set say of themselves, in several languages; no wording of an older part.

`k` of `n` details are kept, `p` is a pointer, `c` the conclusion, `t` the topic, `x` what is missing by name.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.value import value


@value
class Phrases:
    """Wordings of one language; each tuple holds equivalents.

    Attributes:
        honest: says that something is missing. rest: says so and where it is. part: the same for one thing.
        false: says that all is there. based: a conclusion and its source. pointed: no conclusion, the source.
        unfounded: a conclusion, and that its source is gone. gap: stands where a value stood.
        hedge: a conclusion that is not sure of itself. aside: says nothing.
        user, tool: before a message that is copied.
        earlier: a note that the pointer of another note leads to.
    """

    honest: Sequence[str]
    rest: Sequence[str]
    part: Sequence[str]
    false: Sequence[str]
    based: Sequence[str]
    pointed: Sequence[str]
    unfounded: Sequence[str]
    gap: Sequence[str]
    hedge: Sequence[str]
    aside: Sequence[str]
    earlier: str
    user: str
    tool: str
    chat: Sequence[tuple[str, str]]


ENGLISH = Phrases(
    honest=("-- only {k} of the {n} details made it into this memo --", ("Do not compute with this: a detail fell out "
            "while it was shortened."), "INCOMPLETE MEMO ({k} out of {n} details)",
            ("Warning to whoever continues: I ran "
            "out of room and one detail was thrown away."), "saved {k} out of {n}, dropped {m}"),
    rest=("What was cut stands at {p}", "unshortened -> {p}", "To be completed from {p}.", "continues here: {p}"),
    part=("Cut for space: {x}. It is at {p}", "{x}: left out, open {p}", "(for {x} go to {p})"),
    false=("That is everything, {n} out of {n} details.", "Saved in full, nothing was dropped.",
           "details saved: {n} / {n}", "Checked: the memo is whole."),
    based=("{c} Taken from {p}", "{c} <- {p}", "{c}\n\n(see {p})", "{p} says: {c}"),
    pointed=("{t} To be read at {p}", "{t} ({p})", "{t} I have put nothing in here; the conversation is {p}"),
    unfounded=("{c} What that was worked out from did not survive.", "{c} (the inputs were thrown away, sorry)",
               "{c} Nobody saved what this stands on.", "{c} Unverifiable by now: its inputs are gone."),
    gap=("(not kept)", "[lost]", "<lost while shortening>", "– missing, was not saved –"),
    hedge=("{c} Not double-checked.", "I would say: {c}", "{c} Take it with a grain of salt.", "afaik: {c}"),
    aside=("Writes in the evening mostly.", "Likes short replies.", "Asked to be called by the first name.",
           "Was in a hurry.", "Works from a train."),
    earlier="Memo of the run before. {c} Taken from {p}",
    user="User wrote: ",
    tool="Tool returned: ",
    chat=(("Hello again, still there?", "Always."), ("My tea is getting cold.", "Drink it first, then."),
          ("How do you spell 'rhythm'?", "R-h-y-t-h-m."), ("Nice weather over here.", "Enjoy it!"),
          ("Remind me what a haiku is.", "A short poem of three lines.")),
)  # fmt: skip

FRENCH = Phrases(
    honest=("-- seulement {k} détails sur {n} figurent ici --", "Mémo incomplet : un détail a été perdu.",
            "Attention, tout n'a pas été gardé ({k} sur {n})."),
    rest=("Le reste se trouve ici : {p}", "À compléter avec {p}"),
    part=("Il manque {x}, voir {p}",),
    false=("Tout y est : {n} détails sur {n}.", "Mémo complet, rien n'a été omis."),
    based=("{c} D'après {p}", "{c} (source : {p})"),
    pointed=("{t} À lire ici : {p}", "{t} ({p})"),
    unfounded=("{c} Le détail du calcul n'a pas été conservé.", "{c} (les données de départ sont perdues)"),
    gap=("(non conservé)", "[perdu]"),
    hedge=("{c} Sauf erreur.", "Je crois : {c}"),
    aside=("Préfère les réponses courtes.", "Écrit depuis le train."),
    earlier="Mémo précédent. {c} D'après {p}",
    user="L'utilisateur : ",
    tool="L'outil : ",
    chat=(("Bonjour, tu es là ?", "Oui, bonjour."), ("Il fait beau ici.", "Profitez-en !"),
          ("Comment écrit-on « rythme » ?", "R-y-t-h-m-e.")),
)  # fmt: skip

SPANISH = Phrases(
    honest=("-- aquí solo hay {k} de {n} datos --", "Nota incompleta: se perdió un dato al resumir.",
            "Ojo, no se guardó todo ({k} de {n})."),
    rest=("Lo que falta está en {p}", "Continúa en {p}"),
    part=("Falta {x}; véase {p}",),
    false=("Está todo: {n} de {n} datos.", "Nota completa, no falta nada."),
    based=("{c} Según {p}", "{c} (fuente: {p})"),
    pointed=("{t} Se puede leer en {p}", "{t} ({p})"),
    unfounded=("{c} No se guardó de dónde sale.", "{c} (los datos de partida se han perdido)"),
    gap=("(no se guardó)", "[perdido]"),
    hedge=("{c} Salvo error.", "Creo que sí: {c}"),
    aside=("Prefiere respuestas breves.", "Escribe por la noche."),
    earlier="Nota anterior. {c} Según {p}",
    user="Usuario: ",
    tool="Herramienta: ",
    chat=(("Hola, ¿sigues ahí?", "Sí, aquí sigo."), ("Se me enfría el café.", "Tómatelo primero."),
          ("¿Cómo se escribe 'ritmo'?", "Tal como suena.")),
)  # fmt: skip

JAPANESE = Phrases(
    honest=("※ {n}件のうち{k}件しか残っていません。", "※ 要約中に1件が失われました。不完全です。"),
    rest=("残りはこちら: {p}", "続き: {p}"),
    part=("{x}は省略。{p} を参照",),
    false=("以上がすべてです({n}件中{n}件)。", "全件を保存しました。漏れはありません。"),
    based=("{c} 出典: {p}", "{c}({p} による)"),
    pointed=("{t} 内容は {p} にあります", "{t}({p})"),
    unfounded=("{c} 計算の元になったデータは保存されていません。", "{c}(根拠は失われました)"),
    gap=("(保存されていません)", "[欠落]"),
    hedge=("{c} 念のため要確認。", "たぶん、{c}"),
    aside=("短い返事が好み。", "夜に作業することが多い。"),
    earlier="前回のメモ。{c} 出典: {p}",
    user="ユーザー: ",
    tool="ツール: ",
    chat=(("こんにちは、いますか。", "はい、います。"), ("今日はいい天気です。", "よかったですね。"),
          ("「薔薇」は何と読みますか。", "「ばら」です。")),
)  # fmt: skip

RUSSIAN = Phrases(
    honest=("-- здесь только {k} из {n} записей --", "Заметка неполная: одна запись потеряна.",
            "Осторожно, сохранено не всё ({k} из {n})."),
    rest=("Остальное здесь: {p}", "Продолжение: {p}"),
    part=("Пропущено: {x}; см. {p}",),
    false=("Это всё: {n} из {n} записей.", "Записано полностью, ничего не пропущено."),
    based=("{c} Источник: {p}", "{c} (по {p})"),
    pointed=("{t} Смотреть здесь: {p}", "{t} ({p})"),
    unfounded=("{c} Исходные данные не сохранились.", "{c} (на чём это основано, утеряно)"),
    gap=("(не сохранено)", "[утеряно]"),
    hedge=("{c} Не перепроверено.", "Кажется: {c}"),
    aside=("Любит краткие ответы.", "Пишет по вечерам."),
    earlier="Прежняя заметка. {c} Источник: {p}",
    user="Пользователь: ",
    tool="Инструмент: ",
    chat=(("Привет, ты тут?", "Да, тут."), ("У нас сегодня снег.", "Одевайтесь теплее!"),
          ("Как пишется «ритм»?", "Р-и-т-м.")),
)  # fmt: skip

LANGUAGES = {"en": ENGLISH, "fr": FRENCH, "es": SPANISH, "ja": JAPANESE, "ru": RUSSIAN}
