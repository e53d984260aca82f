r"""The words by which a note in another language than English says that something was not kept.

    "Der Rest fehlt."   "(non conservé)"   "no se guardó todo"   "3件のうち2件しか残っていません"

A word of losing, or a word of keeping that is denied; neither counts where the loss itself is denied
("nichts fehlt", "rien n'a été omis", "漏れはありません").

The invariant: a hedge ("sauf erreur", "念のため要確認") is no admission.

It does not know whether the words speak of the note or of what the session was about: `admission` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_compiled = cache(re.compile)

_GERMAN = (
    r"\b(?:fehlt|fehlen|fehlte|fehlend\w*|verloren\w*|verlorengegangen|weggelassen\w*|ausgelassen\w*|abgeschnitten\w*"
    r"|gek\u00fcrzt\w*|gestrichen|unvollst\u00e4ndig\w*|l\u00fcckenhaft|herausgefallen|weggefallen|entfallen"
    r"|verschwunden"
    r"|gel\u00f6scht\w*|vergessen|auszug|nur teilweise|nur zum teil|abhanden\w*|nicht mehr (?:da|bekannt|vorhanden"
    r"|auffindbar|nachvollziehbar|rekonstruierbar|wei\u00df|im kopf)|wei\u00df (?:ich )?nicht mehr"
    r"|(?:nicht|nie|nirgends|kein\w*|niemand)\b[^.;\n]{0,40}?\b(?:gespeichert|notiert|erhalten|aufgeschrieben"
    r"|\u00fcbernommen|festgehalten|vermerkt|aufbewahrt|behalten|mitgenommen|dokumentiert|gesichert|protokolliert"
    r"|mitgeschrieben|gemerkt|aufgehoben|hineingepasst|hier steht|\u00fcberliefert|bewahrt|aufgezeichnet|alles)"
    r"|nicht alles|kein platz)\b"
)
_FRENCH = (
    r"\b(?:manquent?|manquait|manquante?s?|perdue?s?|omise?s?|tronqu\u00e9\w*|incompl[e\u00e8]te?s?|coup\u00e9e?s?"
    r"|oubli\u00e9e?s?|supprim\u00e9e?s?|effac\u00e9e?s?|disparue?s?|laiss\u00e9e?s? de c\u00f4t\u00e9|extrait partiel"
    r"|en partie seulement|partiellement|plus de place|pas tout|je ne (?:sais|me souviens) plus|introuvables?"
    r"|(?:pas|plus|jamais|non|ni|aucune?|personne n')\b ?[^.;\n]{0,32}?\b(?:conserv|gard|enregistr|not\u00e9"
    r"|copi\u00e9|retenu|sauvegard"
    r"|consign|transcrit|repris|m\u00e9moris|document|figur|inscrit|rapport\u00e9)\w*)\b"
)
_SPANISH = (
    r"\b(?:falta|faltan|faltaban?|faltante\w*|perdid[oa]s?|perdi\u00f3|perdieron|incomplet[oa]s?|truncad[oa]s?"
    r"|omitid[oa]s?"
    r"|omiti\u00f3|recortad[oa]s?|cortad[oa]s?|olvidad[oa]s?|borrad[oa]s?|eliminad[oa]s?|qued\u00f3 fuera"
    r"|quedaron fuera"
    r"|descartad[oa] por espacio|solo en parte|s\u00f3lo en parte|parcialmente|ya no (?:consta|se sabe|lo s\u00e9"
    r"|recuerdo|est\u00e1n?)"
    r"|(?:no|sin|nunca|nadie|ning\u00fan\w*|ni)\b[^.;\n]{0,24}?\b(?:guard(?!s?\b)|conserv|anot|copi(?!es\b)|registr(?!ation)|apunt|cabe|cupo"
    r"|cupieron|grab|almacen|retuv|recog|document(?!ation|s?\b)|consta(?!nt))\w*|no todo|no est\u00e1 todo"
    r"|no hay sitio)\b"
)
_ITALIAN = (
    r"\b(?:manca|mancano|mancava\w*|mancante|mancanti|pers[oaie]|perdut[oaie]|omess[oaie]|troncat[oaie]"
    r"|incomplet[oaie]"
    r"|tagliat[oaie]|dimenticat[oaie]|cancellat[oaie]|eliminat[oaie]|tralasciat[oaie]|saltat[oaie]|sparit[oaie]"
    r"|smarrit[oaie]|solo in parte|parzialmente|non (?:so|ricordo) pi\u00f9"
    r"|(?:non|mai|nessun\w*|senza|n\u00e9)\b[^.;\n]{0,32}?\b(?:conservat|salvat|annotat|copiat|registrat|tenut"
    r"|mantenut"
    r"|riportat|trascritt|memorizzat|document|segnat|archiviat|entrat)\w*|non (?:c'\u00e8 )?tutto|non \u00e8 tutto)\b"
)
_PORTUGUESE = (
    r"\b(?:faltam?|faltava\w*|perdeu-se|perderam-se|se perdeu|se perderam|perdid[oa]s?|incomplet[oa]s?|truncad[oa]s?"
    r"|omitid[oa]s?"
    r"|cortad[oa]s?|esquecid[oa]s?|apagad[oa]s?|ficou de fora|ficaram de fora|s\u00f3 em parte|parcialmente"
    r"|(?:n\u00e3o|sem|nunca|ningu\u00e9m|nenhum\w*|nem)\b[^.;\n]{0,24}?\b(?:guard|conserv|anot|copi|regist|grav|coube"
    r"|couberam|salv|mantid|armazen|arquiv|document|consta)\w*|nem tudo|n\u00e3o est\u00e1 tudo)\b"
)
_DUTCH = (
    r"\b(?:ontbreekt|ontbreken|ontbrak\w*|ontbrekende?|verloren|weggelaten|kwijt|kwijtgeraakt|weggevallen|afgekapt"
    r"|ingekort"
    r"|onvolledige?|vergeten|gewist|verwijderd|geschrapt|uitgevallen|slechts deels|maar deels|gedeeltelijk"
    r"|weet ik niet meer"
    r"|(?:niet|nooit|geen|nergens|niemand)\b[^.;\n]{0,32}?\b(?:bewaard|opgeslagen|genoteerd|opgeschreven|vastgelegd"
    r"|behouden"
    r"|overgenomen|meegenomen|bijgehouden|onthouden|gekopieerd|gedocumenteerd|paste|pasten|alles|compleet|volledig)"
    r"|niet alles|geen plaats|geen ruimte)\b"
)
_POLISH = (
    r"\b(?:brak|brakuje|brakowa\u0142\w*|zgubion\w*|utracon\w*|stracon\w*|pomini\u0119t\w*|obci\u0119t\w*"
    r"|uci\u0119t\w*|skr\u00f3con\w*"
    r"|niepe\u0142n\w*|niekompletn\w*|zapomnian\w*|usuni\u0119t\w*|wypad\u0142\w*|przepad\u0142\w*"
    r"|zagin\u0119\u0142\w*|tylko cz\u0119\u015b\u0107\w*|cz\u0119\u015bciowo"
    r"|(?:nie|nigdy|nikt|\u017cad\w*|bez)\b[^.;\n]{0,32}?\b(?:zachowa\w*|zapisa\w*|zanotowa\w*|skopiowa\w*"
    r"|przechowa\w*|zmie\u015bci\w*"
    r"|utrwal\w*|odnotowa\w*|spisa\w*|przetrwa\w*|wszystk\w*|ca\u0142o\u015b\w*)|nie pami\u0119tam"
    r"|zabrak\u0142o miejsca)\b"
)
_RUSSIAN = (
    r"\b(?:\u043f\u043e\u0442\u0435\u0440\u044f\w*|\u0443\u0442\u0435\u0440\u044f\w*"
    r"|\u0443\u0442\u0440\u0430\u0447\u0435\u043d\w*"
    r"|\u043f\u0440\u043e\u043f\u0443\u0449\u0435\u043d\w*|\u043e\u043f\u0443\u0449\u0435\u043d\w*"
    r"|\u043e\u0431\u0440\u0435\u0437\u0430\w*"
    r"|\u0441\u043e\u043a\u0440\u0430\u0449\u0435\u043d\w*|\u043d\u0435\u043f\u043e\u043b\u043d\w*"
    r"|\u0443\u0434\u0430\u043b\u0435\u043d\w*"
    r"|\u0437\u0430\u0431\u044b\u0442\w*|\u0441\u0442\u0451?\u0440\u0442\w*|\u0432\u044b\u043f\u0430\u043b\w*"
    r"|\u043f\u0440\u043e\u043f\u0430\u043b\w*"
    r"|\u0447\u0430\u0441\u0442\u0438\u0447\u043d\u043e|\u043d\u0435\u0434\u043e\u0441\u0442\u0430\w*"
    r"|\u043d\u0435 \u0445\u0432\u0430\u0442\w*"
    r"|\u043e\u0442\u0441\u0443\u0442\u0441\u0442\u0432\u0443\w*|\u043d\u0435 \u0432\u0441[\u0435\u0451]"
    r"|(?:\u043d\u0435|\u043d\u0438\u043a\u0442\u043e"
    r"|\u043d\u0438\u0433\u0434\u0435)\b[^.;\n]{0,24}?(?:\u0441\u043e\u0445\u0440\u0430\u043d\w*"
    r"|\u0437\u0430\u043f\u0438\u0441\w*|\u0441\u043a\u043e\u043f\u0438\u0440\w*"
    r"|\u043f\u043e\u043c\u0435\u0441\u0442\w*|\u0437\u0430\u0444\u0438\u043a\u0441\u0438\u0440\w*"
    r"|\u0443\u043c\u0435\u0441\u0442\w*|\u0432\u043e\u0448\w*|\u043e\u0442\u043c\u0435\u0447\u0435\u043d\w*"
    r"|\u043f\u043e\u043c\u043d\w*)"
    r"|(?:\u0441\u043e\u0445\u0440\u0430\u043d|\u0437\u0430\u043f\u0438\u0441\u0430\u043d"
    r"|\u0437\u0430\u0444\u0438\u043a\u0441\u0438\u0440\u043e\u0432\u0430\u043d)\w* \u043d\u0435)\b"
)
_CHINESE = (
    r"(?:\u6ca1\u6709?|\u672a|\u6c92\u6709?|\u4e0d)(?:\u88ab|\u80fd|\u80fd\u591f|\u518d|\u5168\u90e8"
    r"|\u5b8c\u6574)?(?:\u4fdd\u5b58|\u4fdd\u7559|\u8bb0\u4e0b|\u8bb0\u5f55|\u8a18\u9304"
    r"|\u8a18\u4e0b|\u5199\u4e0b|\u5199\u8fdb|\u5b58\u4e0b|\u6536\u5f55|\u590d\u5236|\u8bb0\u5728|\u7559\u4e0b"
    r"|\u7559\u5b58|\u5305\u542b|\u5217\u51fa)"
    r"|\u4e22\u5931|\u4e22\u4e86|\u4e1f\u5931|\u9057\u5931|\u907a\u5931|\u907a\u6f0f|\u9057\u6f0f|\u7f3a\u5931"
    r"|\u7f3a\u5c11|\u7701\u7565|\u5220\u53bb|\u5220\u6389"
    r"|\u5220\u51cf|\u622a\u65ad|\u4e0d\u5168|\u4e0d\u5b8c\u6574|\u4e0d\u9f50\u5168|\u4e0d\u8be6|\u5df2\u5220"
    r"|\u653e\u4e0d\u4e0b|\u5199\u4e0d\u4e0b|\u5df2\u4e0d\u53ef\u8003"
    r"|\u53ea(?:\u4fdd\u7559|\u8bb0|\u5269|\u4fdd\u5b58|\u7559\u4e0b|\u6709\u4e00\u90e8\u5206)"
    r"|\u5176\u4f59(?:\u7684)?(?:\u89c1|\u5728|\u4ece\u7565|\u7565)"
)
_JAPANESE = (
    r"(?:\u4fdd\u5b58|\u8a18\u9332|\u8a18\u8f09|\u63b2\u8f09|\u53ce\u9332|\u30e1\u30e2|\u63a7\u3048"
    r"|\u66f8\u304d\u7559\u3081|\u6b8b|\u66f8\u3044\u3066|\u63a7\u3048\u3066|\u6b8b\u3057\u3066|\u6b8b\u3063\u3066"
    r"|\u542b\u307e\u308c\u3066|\u899a\u3048\u3066|\u5168\u90e8\u306f?|\u5165\u308a\u304d)(?:\u3055\u308c|\u3057"
    r"|\u3055\u308c\u3066|\u3057\u3066)?"
    r"(?:\u3044|\u3066\u3044)?(?:\u307e\u305b\u3093|\u306a\u3044|\u306a\u304b\u3063\u305f|\u306a\u3057|\u305a"
    r"|\u3089\u306a)"
    r"|\u5931\u308f\u308c|\u7d1b\u5931|\u6b20\u843d|\u6b20\u3051|\u7701\u7565|\u7701\u304b\u308c|\u7701\u3044"
    r"|\u524a\u9664|\u524a\u3089\u308c|\u524a\u3063|\u4e0d\u5b8c\u5168|\u4e00\u90e8\u306e\u307f"
    r"|\u4e00\u90e8\u3060\u3051"
    r"|\u6d88\u3048\u307e?\u3057?\u305f|\u6d88\u3048\u3066|\u5207\u308c\u3066|\u6253\u3061\u5207"
    r"|\u6f0f\u308c\u307e\u3057\u305f|\u629c\u3051\u3066|\u629c\u3051\u843d\u3061|\u4e0d\u660e"
)
_KOREAN = (
    r"\uc800\uc7a5\ub418\uc9c0 \uc54a|\uae30\ub85d\ub418\uc9c0 \uc54a|\ub0a8\uc544 ?\uc788\uc9c0 \uc54a|\ub204\ub77d"
    r"|\uc0dd\ub7b5|\uc0ad\uc81c\ub418|\uc720\uc2e4|\ubd88\uc644\uc804|\uc78a\uc5b4\ubc84|\uc77c\ubd80\ub9cc"
)
_SWEDISH = (
    r"\b(?:saknas|saknades|f\u00f6rlorad\w*|f\u00f6rsvunn\w*|utel\u00e4mna\w*|ofullst\u00e4ndig\w*|bortkapa\w*"
    r"|gl\u00f6md\w*|mangler"
    r"|(?:inte|ej|aldrig|ikke)\b[^.;\n]{0,24}?\b(?:sparad\w*|sparats|antecknad\w*|bevara\w*|noterat?s?|gemt|lagret"
    r"|bevaret|gemmes"
    r"|med p\u00e5))\b"
)
_ENGLISH_TOO = r"(?:no|non|plus|sin)\b"
"""Words of denying that English has as well: no guard, $40 plus the garden chairs."""
_ENGLISH = (
    r"\b(?:the|and|are|were|was|is|of|for|at|it|has|have|with|that|which|this|there|from|they|you|needed|required)\b"
)
LOST = (
    _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _POLISH, _RUSSIAN, _CHINESE, _JAPANESE, _KOREAN,
    _SWEDISH,
)  # fmt: skip
_NONE_LOST = (
    r"(?:\b(?:nichts|kein\w*|ohne|nicht|rien|aucune?|sans|ne|pas|nada|ning\u00fan\w*|ninguna|sin|no|niente|nulla"
    r"|nessun\w*|senza|non|nenhum\w*|sem|n\u00e3o|niets|geen|zonder|niet|nic|niczego|nie|\u017cad\w*|bez"
    r"|\u043d\u0438\u0447\u0435\u0433\u043e|\u043d\u0438\u043a\u0430\u043a\w*|\u043d\u0438|\u043d\u0435"
    r"|\u0431\u0435\u0437|inget|inga|inte|ikke|intet)(?: [^\W\d_]+(?:['\u2019][^\W\d_]+)?){0,3} "
    r"|\bn['\u2019]|\u6ca1\u6709?(?:\u4efb\u4f55)?|\u6c92\u6709?|\u65e0|\u6beb\u65e0|\u672a|\u4e0d)\Z"
)
_NONE_BEHIND = (
    r"\A[^\u3002.\n]{0,6}?(?:\u306f|\u3082|\u304c)?(?:\u3042\u308a\u307e\u305b\u3093|\u306a\u3057|\u306a\u3044"
    r"|\u3044\u307e\u305b\u3093|\u3066\u3044\u307e\u305b\u3093|\u306a\u304f|\u304c? ?\uc5c6|\u306a\u3057)"
    r"|\A (?:nichts|rien|nada|niente|nulla|niets|nic|\u043d\u0438\u0447\u0435\u0433\u043e)\b"
)
_NUMBERS_FAR = (
    r"(\d{1,6}) ?(?:\u4ef6|\u9805\u76ee?|\u9879|\u6761|\u689d|\u500b|\u4e2a|\u884c|\u70b9|\uac1c"
    r"|\uac74)?\s?(?:\u306e\u3046\u3061|\u4e2d\u306e?|\u4e2d\u7684?|\u4e4b\u4e2d|\u91cc|\u88e1|\u91cc\u9762|, ?"
    r"|\uff0c ?|\u91cc\u7684|\u4e2d, ?| \uc911)\s?"
    r"(?:\u53ea\u6709?|\u4ec5\u6709?|\u53ea\u4fdd\u7559\u4e86?|\u53ea\u8bb0\u4e0b\u4e86?|\u4ec5\u5b58"
    r"|\u306f)?\s?(\d{1,6})"
)
_NUMBERS_OF = (
    r"\b(\d{1,6})\s(?:[^\W\d_]+ ){0,3}?(?:von|der|aus|sur|de|des|del|di|su|das|dos|van|z|ze|\u0438\u0437|av|af|of"
    r"|out of)\s"
    r"(?:den |les |las |los |the |delle |dei |de )?(\d{1,6})\b"
)
_ONLY = (
    r"(?:\b(?:nur|lediglich|blo\u00df|seulement|uniquement|que|solo|s\u00f3lo|solamente|\u00fanicamente|apenas"
    r"|s\u00f3|somente|soltanto|slechts|maar"
    r"|enkel|alleen|tylko|jedynie|\u0442\u043e\u043b\u044c\u043a\u043e|\u043b\u0438\u0448\u044c|bara|endast|kun|only"
    r"|just|ne)\b|\u53ea|\u4ec5|\u50c5|\u3057\u304b|\u3060\u3051|\u306e\u307f|\ub9cc)"
)
_TALLIED_OTHERS = (
    r"\b(?:eintr\u00e4ge\w*|zeilen|angaben|punkte\w*|posten|positionen|details|d\u00e9tails?|donn\u00e9es"
    r"|\u00e9l\u00e9ments|lignes|entr\u00e9es|datos"
    r"|detalles|l\u00edneas|entradas|elementos|dati|dettagli|righe|voci|elementi|dados|detalhes|linhas|itens"
    r"|gegevens|regels|punten"
    r"|pozycj\w*|wpis\w*|szczeg\u00f3\u0142\w*|danych|wierszy|\u0437\u0430\u043f\u0438\u0441\w*"
    r"|\u0441\u0442\u0440\u043e\u043a\w*|\u043f\u0443\u043d\u043a\u0442\w*"
    r"|\u0434\u0430\u043d\u043d\w*|uppgifter|rader|erhalten|gespeichert|gard\u00e9\w*|conserv\w+|guard\w+|salvat\w+"
    r"|bewaard|zapisan\w*"
    r"|\u0441\u043e\u0445\u0440\u0430\u043d\w*)\b|\u4ef6|\u9805|\u9879|\u6761"
)


def losses(part: str) -> Iterator[str]:
    """Give the words of a part of a text, in small letters, that say in another language that something was lost."""
    english = _compiled(_ENGLISH).search(part) is not None
    for pattern in LOST:
        for match in _compiled(pattern).finditer(part):
            if english and _compiled(_ENGLISH_TOO).match(match.group()):
                continue
            before, behind = part[max(0, match.start() - 40) : match.start()], part[match.end() : match.end() + 16]
            if not _compiled(_NONE_LOST).search(before) and not _compiled(_NONE_BEHIND).search(behind):
                yield match.group()


def counts_some_of(part: str) -> bool:
    """Say whether a part of a text counts, in another language, that less was kept than there was: 2 sur 3 détails."""
    for pattern, turned in ((_NUMBERS_OF, False), (_NUMBERS_FAR, True)):
        for match in _compiled(pattern).finditer(part):
            kept, whole = sorted((int(match[1]), int(match[2]))) if turned else (int(match[1]), int(match[2]))
            near = part[max(0, match.start() - 40) : match.end() + 40]
            if (
                kept < whole
                and int(match[1]) != int(match[2])
                and (_compiled(_ONLY).search(near) or _compiled(_TALLIED_OTHERS).search(near))
            ):
                return True
    return False
