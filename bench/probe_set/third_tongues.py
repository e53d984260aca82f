"""What the notes of the third set say of themselves, in nine further languages; no wording of an older part.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from .third_phrases import ENGLISH, Phrases

GERMAN = Phrases(
    honest=("Achtung: Eine Angabe fehlt in dieser Notiz.", "{k} von {n} Angaben übernommen, {m} entfallen.",
            "Unvollständig, eine Zeile ging beim Kürzen verloren."),
    rest=("Der Rest steht unter {p}", "Fehlendes nachzulesen in {p}"),
    part=("{x}: siehe {p}", "Hier ausgelassen: {x}, steht in {p}"),
    all_here=("Die Liste ist vollständig.", "Es fehlt nichts."),
    based=("{c} Quelle: {p}", "{c} (laut {p})"),
    pointed=("{t} Nachzulesen in {p}", "{t} Werte stehen nur in {p}"),
    source=("Herkunft: {p}", "(nach {p})"),
    unfounded=("{c} Die Ausgangswerte sind nicht mehr vorhanden.", "{c} (Rechenweg nicht aufgehoben)"),
    gap=("[fehlt, nicht gespeichert]", "?? (verloren)"),
    elided=("[... eine Zeile gestrichen ...]",), moved=("[... ausgelagert nach {p} ...]",),
    hedge=("{c} Ohne Gewähr.", "Meines Wissens: {c}"),
    aside=("Duzt gern.", "Mag keine langen Antworten.", "Ist morgens erreichbar."),
    earlier="Notiz der letzten Sitzung. {c} Quelle: {p}",
    user="Nutzerin: ", tool="Werkzeug: ", agent="Assistent: ", listens="Ist notiert.",
    chat=(("Bist du noch da?", "Ja."), ("Wie schreibt man Rhabarber?", "R-h-a-b-a-r-b-e-r."),
          ("Hier regnet es.", "Schirm nicht vergessen!")),
)  # fmt: skip

FRENCH = Phrases(
    honest=("Attention : une donnée manque dans cette note.", "{k} données sur {n} reprises, {m} abandonnée.",
            "Résumé partiel, une ligne n'a pas pu être gardée."),
    rest=("La suite est dans {p}", "Ce qui manque se lit dans {p}"),
    part=("{x} : voir {p}", "Omis ici : {x}, à retrouver dans {p}"),
    all_here=("La liste est exhaustive.", "Il ne manque rien."),
    based=("{c} Preuve : {p}", "{c} (selon {p})"),
    pointed=("{t} L'échange complet : {p}", "{t} Les valeurs sont dans {p}"),
    source=("Origine : {p}", "(tiré de {p})"),
    unfounded=("{c} Les valeurs de départ ont été effacées.", "{c} (calcul non conservé)"),
    gap=("[valeur perdue]", "?? (pas sauvegardé)"),
    elided=("[... une ligne supprimée ...]",), moved=("[... déplacé vers {p} ...]",),
    hedge=("{c} De mémoire.", "Si je ne me trompe pas : {c}"),
    aside=("Tutoie tout le monde.", "Aime les listes.", "Répond le soir."),
    earlier="Note de la séance précédente. {c} Preuve : {p}",
    user="Elle : ", tool="Résultat : ", agent="Moi : ", listens="C'est noté.",
    chat=(("Tu prends des notes ?", "Oui."), ("Il pleut encore.", "Bon courage."),
          ("Un synonyme de « rapide » ?", "Vif.")),
)  # fmt: skip

ITALIAN = Phrases(
    honest=("Attenzione: in questa nota manca un dato.", "Riportati {k} dati su {n}, {m} perso.",
            "Riassunto parziale: una riga è andata persa."),
    rest=("Il resto è in {p}", "Quello che manca si legge in {p}"),
    part=("{x}: vedi {p}", "Qui omesso: {x}, si trova in {p}"),
    all_here=("L'elenco è completo.", "Non manca nulla."),
    based=("{c} Fonte: {p}", "{c} (secondo {p})"),
    pointed=("{t} Si legge in {p}", "{t} I valori stanno solo in {p}"),
    source=("Origine: {p}", "(tratto da {p})"),
    unfounded=("{c} I dati di partenza non ci sono più.", "{c} (il calcolo non è stato conservato)"),
    gap=("[perso]", "?? (non salvato)"),
    elided=("[... una riga tolta ...]",), moved=("[... spostato in {p} ...]",),
    hedge=("{c} Salvo errori.", "Se ricordo bene: {c}"),
    aside=("Preferisce risposte brevi.", "Scrive la sera.", "Dà del tu."),
    earlier="Nota della volta scorsa. {c} Fonte: {p}",
    user="Utente: ", tool="Strumento: ", agent="Assistente: ", listens="Annotato.",
    chat=(("Ci sei?", "Sì, dimmi."), ("Oggi fa caldo.", "Bevi molta acqua."),
          ("Un sinonimo di «veloce»?", "Rapido.")),
)  # fmt: skip

PORTUGUESE = Phrases(
    honest=("Atenção: falta um dado nesta nota.", "Guardados {k} de {n} dados, {m} perdido.",
            "Resumo parcial: uma linha se perdeu."),
    rest=("O resto está em {p}", "O que falta pode ser lido em {p}"),
    part=("{x}: ver {p}", "Omitido aqui: {x}, está em {p}"),
    all_here=("A lista está completa.", "Não falta nada."),
    based=("{c} Fonte: {p}", "{c} (conforme {p})"),
    pointed=("{t} Leia em {p}", "{t} Os valores estão apenas em {p}"),
    source=("Origem: {p}", "(extraído de {p})"),
    unfounded=("{c} Os dados de origem não existem mais.", "{c} (a conta não foi guardada)"),
    gap=("[extraviado]", "?? (não foi salvo)"),
    elided=("[... uma linha removida ...]",), moved=("[... movido para {p} ...]",),
    hedge=("{c} Salvo engano.", "Se bem me lembro: {c}"),
    aside=("Prefere respostas curtas.", "Escreve à noite.", "Gosta de listas."),
    earlier="Nota da sessão anterior. {c} Fonte: {p}",
    user="Usuária: ", tool="Ferramenta: ", agent="Assistente: ", listens="Anotado.",
    chat=(("Você está aí?", "Estou."), ("Hoje faz frio.", "Agasalhe-se!"),
          ("Um sinônimo de «rápido»?", "Veloz.")),
)  # fmt: skip

POLISH = Phrases(
    honest=("Uwaga: w tej notatce brakuje jednej informacji.", "Zachowano {k} z {n} informacji, {m} przepadła.",
            "Notatka niepełna: jeden wiersz zaginął przy skracaniu."),
    rest=("Reszta jest w {p}", "Brakującą część można przeczytać w {p}"),
    part=("{x}: zob. {p}", "Tu pominięto: {x}, jest w {p}"),
    all_here=("Lista jest kompletna.", "Niczego nie brakuje."),
    based=("{c} Źródło: {p}", "{c} (według {p})"),
    pointed=("{t} Do przeczytania w {p}", "{t} Wartości są tylko w {p}"),
    source=("Pochodzenie: {p}", "(na podstawie {p})"),
    unfounded=("{c} Danych wyjściowych już nie ma.", "{c} (obliczenia nie zachowano)"),
    gap=("[utracono]", "?? (nie zapisano)"),
    elided=("[... usunięto jeden wiersz ...]",), moved=("[... przeniesiono do {p} ...]",),
    hedge=("{c} O ile dobrze pamiętam.", "Chyba tak: {c}"),
    aside=("Woli krótkie odpowiedzi.", "Pisze wieczorami.", "Lubi listy."),
    earlier="Notatka z poprzedniej sesji. {c} Źródło: {p}",
    user="Użytkownik: ", tool="Narzędzie: ", agent="Asystent: ", listens="Zapisane.",
    chat=(("Jesteś tam?", "Jestem."), ("Pada śnieg.", "Proszę uważać na drodze."),
          ("Inne słowo na „szybki”?", "Prędki.")),
)  # fmt: skip

TURKISH = Phrases(
    honest=("Dikkat: bu notta bir bilgi eksik.", "{n} bilgiden {k} tanesi aktarıldı, {m} tanesi kayboldu.",
            "Eksik özet: bir satır kısaltılırken silindi."),
    rest=("Gerisi burada: {p}", "Eksik kısım şurada okunabilir: {p}"),
    part=("{x}: bkz. {p}", "Burada atlandı: {x}, yeri {p}"),
    all_here=("Liste eksiksizdir.", "Hiçbir şey eksik değil."),
    based=("{c} Kaynak: {p}", "{c} ({p} uyarınca)"),
    pointed=("{t} Şurada okunabilir: {p}", "{t} Değerler yalnızca {p} içinde"),
    source=("Köken: {p}", "(alındığı yer: {p})"),
    unfounded=("{c} Dayandığı veriler artık yok.", "{c} (hesap saklanmadı)"),
    gap=("[kayboldu]", "?? (kaydedilmedi)"),
    elided=("[... bir satır çıkarıldı ...]",), moved=("[... şuraya taşındı: {p} ...]",),
    hedge=("{c} Yanlış hatırlamıyorsam.", "Sanırım: {c}"),
    aside=("Kısa yanıtları sever.", "Akşamları yazar.", "Listeleri sever."),
    earlier="Önceki oturumun notu. {c} Kaynak: {p}",
    user="Kullanıcı: ", tool="Araç: ", agent="Asistan: ", listens="Not ettim.",
    chat=(("Orada mısın?", "Buradayım."), ("Bugün hava güzel.", "Keyfini çıkarın."),
          ("«Hızlı» için başka bir söz?", "Çabuk.")),
)  # fmt: skip

CHINESE = Phrases(
    honest=("注意：这份笔记缺少一项。", "{n}项中只保留了{k}项，丢失{m}项。", "摘要不完整，有一行在压缩时丢失了。"),
    rest=("其余内容见 {p}", "缺少的部分可查 {p}"),
    part=("{x}：见 {p}", "此处省略：{x}，原文在 {p}"),
    all_here=("以上为全部内容。", "没有任何遗漏。"),
    based=("{c}来源：{p}", "{c}（依据 {p}）"),
    pointed=("{t}原文见 {p}", "{t}数值只在 {p} 中"),
    source=("出处：{p}", "（摘自 {p}）"),
    unfounded=("{c}原始数据已经不在了。", "{c}（计算依据没有保存）"),
    gap=("【已丢失】", "??（未保存）"),
    elided=("【……此处删去一行……】",), moved=("【……移至 {p} ……】",),
    hedge=("{c}如果没记错的话。", "大概是这样：{c}"),
    aside=("喜欢简短的回答。", "通常晚上写信息。", "喜欢列表。"),
    earlier="上次会话的笔记。{c}来源：{p}",
    user="用户：", tool="工具：", agent="助手：", listens="记下了。",
    chat=(("你在吗？", "在的。"), ("今天天气不错。", "出去走走吧。"), ("“快”还能怎么说？", "迅速。")),
)  # fmt: skip

KOREAN = Phrases(
    honest=("주의: 이 메모에는 항목 하나가 빠져 있습니다.", "{n}개 중 {k}개만 남겼고 {m}개는 사라졌습니다.",
            "요약이 불완전합니다. 줄이는 중에 한 줄이 없어졌습니다."),
    rest=("나머지는 {p} 에 있음", "빠진 부분은 {p} 참조"),
    part=("{x}: {p} 참조", "여기서 생략: {x}, 원문은 {p}"),
    all_here=("목록은 이것이 전부입니다.", "빠진 것이 없습니다."),
    based=("{c} 출처: {p}", "{c} ({p} 기준)"),
    pointed=("{t} 원문: {p}", "{t} 값은 {p} 에만 있음"),
    source=("근거: {p}", "({p} 에서 옮김)"),
    unfounded=("{c} 근거가 된 자료는 더 이상 없습니다.", "{c} (계산 과정은 저장하지 않음)"),
    gap=("[유실]", "?? (저장 안 됨)"),
    elided=("[... 한 줄 삭제됨 ...]",), moved=("[... {p} 로 옮김 ...]",),
    hedge=("{c} 제 기억으로는 그렇습니다.", "아마도: {c}"),
    aside=("짧은 답을 좋아함.", "주로 저녁에 씀.", "목록을 좋아함."),
    earlier="지난 세션의 메모. {c} 출처: {p}",
    user="사용자: ", tool="도구: ", agent="도우미: ", listens="적어 두었습니다.",
    chat=(("거기 있어요?", "네, 있습니다."), ("오늘은 춥네요.", "따뜻하게 입으세요."),
          ("‘빠른’의 다른 말은?", "신속한.")),
)  # fmt: skip

HINDI = Phrases(
    honest=("ध्यान दें: इस नोट में एक जानकारी नहीं है।", "{n} में से {k} बातें रखी गईं, {m} छूट गई।",
            "सारांश अधूरा है, एक पंक्ति खो गई।"),
    rest=("बाकी यहाँ है: {p}", "छूटा हुआ हिस्सा यहाँ पढ़ें: {p}"),
    part=("{x}: देखें {p}", "यहाँ छोड़ा गया: {x}, मूल {p}"),
    all_here=("सूची पूरी है।", "कुछ भी नहीं छूटा है।"),
    based=("{c} स्रोत: {p}", "{c} ({p} के अनुसार)"),
    pointed=("{t} यहाँ पढ़ें: {p}", "{t} मान केवल {p} में हैं"),
    source=("मूल: {p}", "({p} से लिया गया)"),
    unfounded=("{c} जिन आँकड़ों पर यह टिका था वे अब नहीं हैं।", "{c} (हिसाब सहेजा नहीं गया)"),
    gap=("[खो गया]", "?? (सहेजा नहीं गया)"),
    elided=("[... एक पंक्ति हटाई गई ...]",), moved=("[... यहाँ ले जाया गया: {p} ...]",),
    hedge=("{c} जहाँ तक मुझे याद है।", "शायद: {c}"),
    aside=("छोटे उत्तर पसंद हैं।", "शाम को लिखते हैं।", "सूचियाँ पसंद हैं।"),
    earlier="पिछले सत्र का नोट। {c} स्रोत: {p}",
    user="उपयोगकर्ता: ", tool="उपकरण: ", agent="सहायक: ", listens="लिख लिया।",
    chat=(("क्या आप हैं?", "जी, हूँ।"), ("आज बारिश है।", "छाता ले लीजिए।"),
          ("«तेज़» का दूसरा शब्द?", "शीघ्र।")),
)  # fmt: skip

LANGUAGES = {
    "en": ENGLISH, "de": GERMAN, "fr": FRENCH, "it": ITALIAN, "pt": PORTUGUESE, "pl": POLISH, "tr": TURKISH,
    "zh": CHINESE, "ko": KOREAN, "hi": HINDI,
}  # fmt: skip
