"""What words beside a number say: that it must not be texted, that nothing speaks against it, or nothing we understand.

A note is dropped only where every word of it is known to be harmless or looks like a name. The words that say no cover
the languages of the lists that we test, with their inflections; any other word keeps the row from being texted too, but
then the owner of the list is asked what it means.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

Says = Literal["no", "nothing", "unclear"]


STROKES: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "ё": "е"})


def _folded(text: str) -> str:
    """Return text without case and accents, in which words of a list are looked for."""
    text = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return text.translate(STROKES)


# whole words that say no, by language
WORDS: Final = frozenset(
    _folded(
        # English
        "no not never nor non none dont doesnt didnt isnt wont cant cannot wasnt hasnt neither without stop stopp "
        "stops stopped stopall quit end optout out wrong bad false dead died dies late rip passed estate old former "
        "formerly ex previous prior past gone left moved banned barred legal lawsuit sue sued suing dnc dnd dnt dnm "
        "tps robinson bloctel spam scam fraud fake dummy error failed fails hold paused suspended unwanted blocked "
        "minor "
        # German
        "nicht nie niemals nimmer nix nein kein keine keinen keiner keines keinem ohne tot tote toter totes alt alte "
        "alter altes alten tod ehem weg raus aus ausgeschieden gelöscht ungültig früher frühere storno tabu verzogen "
        # French
        "ne pas jamais plus aucun aucune sans ni nul arrêt stoppez mort morte faux fausse vieux vieil vieille hors "
        # Spanish, Portuguese
        "nunca jamás sin tampoco ningún ninguna baja muerto muerta murió viejo vieja não nem sem nenhum nenhuma morto "
        "morta velho velha morreu fora "
        # Italian
        "mai senza nessun nessuno nessuna vecchio vecchia defunto "
        # Dutch
        "niet nooit geen nee fout oud oude vroeger dood zonder "
        # Polish, Czech, Slovak
        "nie bez nigdy zły zła złe stary stara stare były była żaden neni nikdy žádný starý stará byvaly mrtvý "
        # Swedish, Danish, Norwegian
        "inte ej icke aldrig nej ikke aldri nei ingen inget intet fel feil død døde död döda gammal gammalt gamla "
        "gammel gammelt gamle utan uden uten fd tidligere tidigare slutat sluttet "
        # Finnish
        "ei eivät älä älkää eikä ilman vanha väärä lopeta "
        # Turkish
        "değil hayır yok asla hiç eski öldü ölü merhum merhume rahmetli yanlış hatalı ret dur iptal "
        # Russian, Ukrainian
        "не нет ни никогда нельзя без стоп умер умерла помер померла мертв мертва стар старый старая старое "
        "бывший бывшая чужой ні немає "
        # Romanian, Hungarian, Greek
        "nu fără vechi vechiul nem ne sose régi rossz δεν μην μη οχι παλιο παλιος "
        # Indonesian, Malay, Vietnamese
        "jangan tidak tak bukan salah lama mati dilarang không đừng sai cũ "
        # Arabic, Hebrew, Hindi
        "لا ليس ليست لم لن غير بدون عدم ما خطأ خاطئ مات توفي متوفى متوفي المرحوم مرحوم قديم سابق فاكس ملغي ملغى محظور "
        "לא אל אין ללא שגוי ישן נפטר נפטרה פקס नहीं मत ना गलत मृत पुराना बंद स्वर्गीय"
    ).split()
)
# parts of words, so that inflections and compounds are met; none of them stands in a word that says nothing
STEMS: Final = tuple(
    _folded(
        # the same in many languages
        "fax faks факс φαξ unsub optout blacklist invalid incorrect inactiv inaktiv deactiv deaktiv disconnect "
        "obsolet cancel blocke blockier blokk blokke bloqu bloccat zablok заблок "
        # English
        "wrong deceas expired unreach undeliv bounced outdated discontinu terminat complain lawyer attorney solicitor "
        "litigat suppress remove delete refus reject declin revok withdr object "
        # German
        "nicht falsch storb sperrt sperre altnumm altansch abgemeld abbestell abmeld widerruf widerspr unbekannt "
        "ungültig gekündigt "
        "gekuendigt storniert gelösch geloesch löschen loeschen ehemal veralt anwalt anwält beschwer abgeschalt "
        "abgelehnt "
        "ablehn verboten unerwünsch unerreich stillgelegt "
        # French
        "décéd défunt ancien erron errat mauvais désabon désinscr résili oppos interdi avocat plainte supprim inconnu "
        "périm injoign "
        # Spanish, Portuguese, Italian
        "equivocad errad fallec falec difunt antigu antigo antiga abogad advogad avvocat queja reclam rechaz recus "
        "rifiut "
        "prohib proib desconoc desconhec sconosc caduc eliminad borrad descadastr inativ inattiv sbagliat deced "
        "defunt "
        "disiscri cancellat disattiv inesistent revocat defunct "
        # Dutch
        "verkeerd overled gestorven voormal ongeldig geblok afgemeld uitgeschr opgezegd advoc klacht onbekend "
        "verwijder "
        # Polish, Czech, Hungarian, Romanian
        "błędn bledn zmarł nieakt nieważn niepraw nieczyn nieznan wypis rezygn odmow odmów prawnik adwokat skarg "
        "reklamac "
        "usuni zemřel nevol nepis špatn chybn neplatn odhlás halott meghalt elhunyt hibás téves érvénytel decedat "
        "greșit "
        # Swedish, Danish, Norwegian
        "avlid ogiltig ugyldig spärr spærr sperret avregist avanmäl afmeld avmeld advokat klagom okänd ukendt "
        "ukjent forkert "
        "afdød avdød upphört utgått "
        # Finnish
        "kuollu edesm entine virheel estett peruut poistet kielt asianaj valitus tuntemat "
        # Turkish, whose verbs carry their no
        "aramay aramas göndermey göndermes atmay yazmay mesajat istemiy istemez geçersiz engelle avukat şikay silin "
        "vefat "
        # Russian, Ukrainian, Greek
        "прежн ошиб неверн неправ покойн скончал недейств отпис отказ адвокат юрист жалоб неизвест удал запре "
        "отключ неактив "
        "помилк невірн λαθος απεβιω νεκρ "
        # Indonesian
        "meninggal almarhum "
        # Arabic
        "تتصل توقف يقاف محام شكو رفض حذف"
    ).split()
)
# scripts without blanks between words, and signs
SIGNS: Final = tuple(
    _folded(
        "不 勿 别 別 無 无 沒 没 非 未 停 退 拒 错 錯 誤 误 死 故人 已故 亡 逝 旧 舊 廃 废 廢 传真 傳真 空号 空號 "
        "黑名单 黑名單 投诉 投訴 "
        "律师 律師 弁護士 禁 取消 注销 失效 ない ません やめ 間違 中止 元 苦情 ファックス ファクス ブロック 마세요 "
        "말것 금지 거부 사망 고인 "
        "틀린 잘못 팩스 중지 해지 차단 안됨 아님 없음 ไม่ อย่า ห้าม ผิด เสียชีวิต เก่า แฟกซ์ "
        "† ✝ ✗ ✘ ✖ ❌ ❎ 🚫 ⛔ 🛑 📵 📠 🖷 💀 ☠ ⚰ ⚱"
    ).split()
)
HARMLESS: Final = frozenset(
    _folded(
        # English
        "home house mobile mob cell cellular work office business private personal main direct primary preferred best "
        "day daytime evening evenings night weekend weekends morning landline phone telephone tel sms text texts "
        "whatsapp "
        "wa signal viber telegram mum mom mother dad father wife husband partner son daughter brother sister grandma "
        "grandpa parent parents assistant secretary reception desk number new current ok okay yes only and or the "
        "his her my "
        "m h w p c t o mr mrs ms miss dr prof "
        # German
        "privat geschäftlich geschäft dienst dienstlich handy mobil mobiltelefon büro arbeit zuhause zu hause daheim "
        "festnetz abends tagsüber morgens mutter vater mama papa frau herr mann sohn tochter oma opa bruder "
        "schwester neu "
        "haupt zentrale sekretariat firma und "
        # French
        "domicile maison bureau travail portable perso personnel pro professionnel mère père maman fils fille mari "
        "femme "
        "soir matin nouveau et fixe mme "
        # Spanish, Portuguese, Italian
        "casa móvil celular trabajo oficina particular madre padre hijo hija mamá papá y sra sr telemóvel trabalho "
        "escritório pai mãe filho filha cellulare ufficio lavoro mamma papà figlio figlia abitazione e nuevo novo "
        "nuovo "
        # Dutch, Polish, Czech
        "thuis werk mobiel privé kantoor moeder vader dom domowy praca służbowy komórka komórkowy prywatny biuro "
        "mama tata "
        "domů práce mobilní kancelář "
        # Swedish, Danish, Norwegian, Finnish
        "hem hemma hjem hjemme jobb jobbet arbete arbejde arbeid mor far mamma pappa koti kotona työ kännykkä äiti "
        "isä och "
        "og "
        # Turkish, Russian, Arabic, Chinese, Japanese, Korean
        "ev iş cep ofis anne baba дом домашний работа рабочий мобильный сотовый личный мама папа и منزل بيت جوال "
        "موبايل "
        "عمل مكتب 家 家庭 手机 手機 公司 办公室 辦公室 自宅 携帯 会社 職場 집 회사 휴대폰"
    ).split()
)
PARTICLES: Final = frozenset(
    "van von der den de del della di da dos das du la le el al bin ibn ben ter ten zu".split()  # noqa: SIM905
)
NAMES: Final = 3  # words of a name at most, without its particles
LETTERS: Final = re.compile(r"[^\W\d_]+")
LATIN_NOT: Final = re.compile(r"n['’ʼ`´]t\b")
FRENCH_NOT: Final = re.compile(r"\bn['’ʼ`´](?=\w)")
PUNCTUATION: Final = frozenset(" ()[],;:.-–/&'’\"|*")


def says_no(text: str) -> bool:
    """Return whether words of a cell say that its number must not be texted.

    Example:
        >>> [says_no(it) for it in ("0171 1234567 (nicht anrufen!)", "Faxnummer: 030 1", "n'appelez plus", "Ann")]
        [True, True, True, False]
    """
    folded = _folded(FRENCH_NOT.sub("ne ", LATIN_NOT.sub(" not", text.casefold())))
    if any(sign in folded for sign in SIGNS):
        return True
    return any(word in WORDS or any(stem in word for stem in STEMS) for word in LETTERS.findall(folded))


def read(note: str) -> Says:
    """Return what a note behind a number says.

    Example:
        >>> [read(it) for it in ("(home)", "- Ann van Dyck", "(do not text)", "(ring twice)", "(mobile?)")]
        ['nothing', 'nothing', 'no', 'unclear', 'unclear']
    """
    if says_no(note):
        return "no"
    words = LETTERS.findall(unicodedata.normalize("NFC", note))
    unknown = [word for word in words if _folded(word) not in HARMLESS and word not in PARTICLES]
    names = all(word[0].isupper() and word[1:] == word[1:].lower() for word in unknown)
    known = names and len(unknown) <= NAMES and all(sign.isalpha() or sign in PUNCTUATION for sign in note)
    return "nothing" if known else "unclear"


def of_all_numbers(text: str) -> bool:
    """Return whether a cell of several numbers says no to any of them; that one is a fax says nothing of the others."""
    return says_no(" ".join(word for word in text.split() if "fax" not in word.casefold()))
