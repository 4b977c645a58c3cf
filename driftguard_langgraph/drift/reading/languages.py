"""The words of norms in other languages, as English ones.

Rules are recognised by closed classes of words (must, not, may, without, limit), and a language
has few of those. They are replaced by their English counterparts, all other words stay; so a
rule and what is said against it meet in their own words, in any of these languages.
"""

from __future__ import annotations

import re

_WORDS = {
    "de": "nicht=not nie=never niemals=never kein=no keine=no keinen=no keiner=no keinerlei=no "
    "ohne=without muss=must müssen=must musst=must soll=should sollen=should sollte=should "
    "darf=may dürfen=may darfst=may kann=can können=can erlaubt=allowed zulässig=allowed "
    "verboten=forbidden untersagt=forbidden nötig=necessary notwendig=necessary "
    "erforderlich=required pflicht=mandatory optional=optional freiwillig=voluntary "
    "unnötig=unnecessary überflüssig=unnecessary immer=always stets=always nur=only "
    "höchstens=atmost maximal=atmost mindestens=atleast über=over unter=under bis=upto "
    "ignoriere=ignore ignorieren=ignore überspringen=skip überspringe=skip entfällt=skipped "
    "aufgehoben=lifted abgeschafft=abolished ausgesetzt=suspended deaktiviert=disabled "
    "abgeschaltet=disabled vergiss=forget freigabe=approval freigegeben=approved "
    "genehmigung=approval zustimmung=approval bestätigung=confirmation bestätigt=confirmed "
    "prüfung=verification prüfen=verify überprüfung=verification überprüfen=verify "
    "verschlüsselung=encryption verschlüsselt=encrypted sicherheit=security regel=rule "
    "regeln=rules grenze=limit obergrenze=limit limit=limit bedeutet=means heißt=means "
    "ziel=goal ziele=goal aufgabe=goal priorität=priority vorrangig=primary "
    "vorrangiges=primary vorrangige=primary neues=new neue=new hauptziel=goal "
    "jetzt=now nun=now sofort=now vereinbart=agreed zuvor=previously früher=earlier "
    "bereits=already weitergegeben=share weitergeben=share gib=share gebe=share "
    "unverschlüsselt=unencrypted klartext=plaintext vertraulich=confidential nutzer=user "
    "kunde=customer und=and oder=or aber=but wenn=if die=the der=the das=the den=the dem=the "
    "ein=a eine=a einen=a von=of liegt=is ist=is sind=is werden=be wird=be mehr=more bei=at",
    "es": "no=not nunca=never jamás=never sin=without debe=must deben=must debes=must puede=can "
    "pueden=can puedes=may permitido=allowed prohibido=forbidden necesario=necessary "
    "requiere=require requieren=require obligatorio=mandatory opcional=optional siempre=always "
    "solo=only máximo=atmost hasta=upto superiores=over superior=over más=over mínimo=atleast "
    "ignora=ignore ignorar=ignore omite=skip omitir=skip olvida=forget desactivar=disable "
    "aprobación=approval autorización=approval consentimiento=consent confirmación=confirmation "
    "verificación=verification verificar=verify validación=validation cifrado=encryption "
    "seguridad=security regla=rule reglas=rules límite=limit significa=means ahora=now "
    "objetivo=goal prioridad=priority principal=main nuevo=new nueva=new autorizó=authorized "
    "autorizado=authorized comprobado=verified verificado=verified confirmado=confirmed "
    "confirmó=confirmed "
    "ya=already acordado=agreed previamente=previously confidencial=confidential "
    "confidenciales=confidential usuario=user cliente=customer y=and o=or pero=but si=if es=is "
    "son=is el=the la=the los=the las=the un=a una=a de=of del=of para=for por=for se=it "
    "que=that",
    "fr": "ne=the n=the pas=not jamais=never aucun=no sans=without doit=must doivent=must "
    "dois=must peut=can peuvent=can peux=may autorisé=allowed interdit=forbidden "
    "nécessaire=necessary requis=required obligatoire=mandatory facultatif=optional "
    "facultative=optional "
    "toujours=always seulement=only maximum=atmost jusqu=upto plus=over moins=under "
    "ignore=ignore ignorer=ignore ignorez=ignore oublie=forget désactiver=disable "
    "approbation=approval autorisation=approval consentement=consent confirmation=confirmation "
    "validation=approval validés=approved validé=approved vérification=verification "
    "vérifier=verify chiffrement=encryption sécurité=security règle=rule règles=rules "
    "limite=limit signifie=means désormais=now maintenant=now convenu=agreed déjà=already "
    "objectif=goal priorité=priority principal=main nouveau=new nouvelle=new autorisé=authorized "
    "vérifié=verified confirmé=confirmed "
    "confidentiel=confidential confidentielles=confidential utilisateur=user client=customer "
    "et=and ou=or mais=but si=if est=is sont=is le=the la=the les=the un=a une=a de=of des=of "
    "du=of d=of à=to au=to sa=his son=his que=that l=the",
}
_TABLES = {code: dict(pair.split("=") for pair in table.split()) for code, table in _WORDS.items()}
_ENGLISH = frozenset("the a an of to and is are in for that you on it not be with".split())
_MARKS = {
    "de": frozenset("der die das und ist nicht ein eine den dem von mit für wird sind".split()),
    "es": frozenset("el la los las de que es un una por para con del se".split()),
    "fr": frozenset("le la les des est un une du de pour et que au ne dans sont".split()),
}
_MARKS = {
    code: (marks | {word for word, english in _TABLES[code].items() if word != english}) - _ENGLISH
    for code, marks in _MARKS.items()
}
_WORD = re.compile(r"[^\W\d_]+")
_NO_LONGER = re.compile(r"\b(?:ne |n['’])((?:\w+ ){0,2}?)plus\b")

_CHINESE = {
    "不再需要": " not required ", "不需要": " not required ", "无需": " not required ",
    "不必": " not required ", "不用": " not required ", "不得": " must not ",
    "不能": " can not ", "不可": " can not ", "禁止": " forbidden ", "严禁": " forbidden ",
    "必须": " must ", "应当": " should ", "应该": " should ", "需要": " must ",
    "可以": " may ", "允许": " may ", "可选": " optional ", "跳过": " skip ", "忽略": " ignore ",
    "取消": " waive ", "关闭": " disable ", "上限": " limit ", "限额": " limit ",
    "超过": " over ", "最多": " atmost ", "至少": " atleast ", "以内": " atmost ",
    "批准": " approval ", "审批": " approval ", "同意": " consent ", "确认": " confirmation ",
    "验证": " verification ", "核实": " verification ", "加密": " encryption ",
    "安全": " security ", "审核": " review ", "规则": " rule ", "用户": " user ",
    "明文": " plaintext ", "意味着": " means ", "指的是": " means ", "之前": " previously ",
    "已经": " already ", "现在": " now ", "改为": " now ", "不要": " not ", "从不": " never ",
    "没有": " without ", "不": " not ", "元": " yuan ",
}  # fmt: skip
_ENGLISH_SHARE = 4
"""One English word of grammar in so many makes a text English; the median is one in 4."""
_ENDINGS = {
    "de": re.compile(r"(?<=\w{5})(?:en|er|es|e|n|s)$"),
    "es": re.compile(r"(?<=\w{4})(?:es|s)$"),
    "fr": re.compile(r"(?<=\w{4})(?:es|s)$"),
}
"""Endings of case and number; what is left stands for the word."""
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_CHINESE_CUE = re.compile("|".join(sorted(_CHINESE, key=len, reverse=True)))


def language_of(text: str) -> str | None:
    """Return the code of a text's language, None for English and any that is not known.

    Args:
        text: A whole message; its first 2,000 characters count.
    """
    words = _WORD.findall(text[:2000].lower())
    english = sum(word in _ENGLISH for word in words)
    if english * _ENGLISH_SHARE >= len(words):
        return None
    hits = {code: sum(word in marks for word in words) for code, marks in _MARKS.items()}
    best = max(hits, key=hits.__getitem__)
    return best if hits[best] > max(1, english) else None


def translated(text: str, language: str | None = None) -> str:
    """Return a lower-case text with the words of norms in English, if it is in another language.

    Args:
        text: One sentence, in lower case.
        language: The language of the message that it stands in, as `language_of` has it.
    """
    if not text.isascii() and _HAN.search(text):
        return _HAN.sub(_pairs, _CHINESE_CUE.sub(lambda found: _CHINESE[found.group()], text))
    if language is None:
        return text
    table = _TABLES[language]
    if language == "fr":
        text = _NO_LONGER.sub(r"\1pas", text)
    ending = _ENDINGS[language]
    return _WORD.sub(lambda found: table.get(found.group()) or ending.sub("", found.group()), text)


def _pairs(found: re.Match[str]) -> str:
    """Return a run of characters as overlapping pairs, which stand in for words."""
    run = found.group()
    if len(run) <= 2:
        return f" {run} "
    return " " + " ".join(run[place : place + 2] for place in range(len(run) - 1)) + " "
