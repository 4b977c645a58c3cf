"""The off-topic marker: a phrase by which a model says that a question is none of its business.

A model that refuses well ("This is off-topic ... but I can help you with loans") repeats the
words of its purpose, and the instruction to do so fills a system prompt with words that are
not its purpose. Both are left out of what is *scored*; what is shown, kept or sent never
changes. Whatever else an answer says stays, so a marker hides no foreign answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftguard_langgraph.errors import ConfigurationError

DEFAULT_MARKER = "This is off-topic"
"""context-drift-analyzer's marker."""

_SHORTEST_ACKNOWLEDGEMENT = 10
"""Characters below which what is left of an answer says nothing (context-drift-analyzer's)."""

_REACH = 600
"""How far from a marker in a prompt its instruction may begin or end, in characters."""

_GAP = r"[\s\u2010-\u2015-]"
_BREAK = re.compile(r"(?<=[.!?。！？])(?<!\n\d\.)(?<!\n\d\d\.)\s++|(?<=[.!?][\"'”’)])\s++|\n++")
_FULL_STOPS = frozenset(".!?。！？")
_LIST_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_CLOSING = {
    "'": re.compile(r"(?<=\S)'(?!\w)"), '"': re.compile('"'), "`": re.compile("`"),
    "“": re.compile("[”“]"), "‘": re.compile(r"(?<=\S)’(?!\w)"), "«": re.compile("»"),
    "„": re.compile("[“”]"), "「": re.compile("」"), "『": re.compile("』"),
}  # fmt: skip
_OPENING = re.compile(r"(?<!\w)[\"'`“‘«„「『](?=\S)")

_FILLED = r"(?:\s{1,3}(?!not\b|never\b)\w{1,14}){0,3}?\s{1,3}"
_HELP = r"(?:help|assist|support|guide|offer\s+(?:help|assistance|support))\b"
_READY = (
    r"\b(?:here|designed|able|happy|glad|ready|built|made|trained|meant|available|pleased|set\s+up)"
)
_REDIRECTS = (
    rf"I\s+(?:can|could|would|will|do|may){_FILLED}{_HELP}",
    rf"(?:I(?:\s+am|['’]m|['’]d\s+be)|we(?:\s+are|['’]re)|would\s+be){_FILLED}{_READY}\s+(?:to{_FILLED}{_HELP}|for\b)",
    rf"(?:happy|glad|pleased)\s+to{_FILLED}{_HELP}",
    rf"we\s+(?:can|could|would|will){_FILLED}{_HELP}",
    r"(?:is|was)\s+there\s+(?:anything|something)\b",
    rf"(?:what|how|which){_FILLED}(?:can|could|may|might)\s+(?:I|we)\b",
    rf"(?:can|could|may|shall|might)\s+(?:I|we){_FILLED}(?:help|assist|interest)\b",
    r"(?:please\s+)?(?:let\s+me\s+know|let\s+us\s+know|feel\s+free|ask\s+me)\b",
    r"(?:please\s+)?(?:don['’]t|do\s+not)\s+hesitate\b",
    r"for\s+(?:example|instance)\s*,?\s*(?:I|we|you)\s+(?:can|could|may|might)\b",
    rf"you\s+(?:can|could|may|might){_FILLED}(?:ask|contact|reach\s+out)\b",
    r"you(?:\s+are|['’]re)\s+welcome\s+to\s+ask\b",
    r"would\s+you\s+(?:like|prefer)\b",
    rf"(?:do|if)\s+you{_FILLED}(?:questions?|queries|enquiries|inquiries|need\s+help)\b",
    r"let['’]?s\s+(?:get\s+back|go\s+back|return|focus|stay|talk\s+about)\b",
    r"I\s+(?:only\s+)?(?:specialise|specialize|focus|concentrate)\b",
    r"my\s+(?:\w+\s+)?(?:role|purpose|expertise|focus|special(?:i?ty)|area)\b",
)  # fmt: skip
_LEAD = (
    r"(?:[,;:–—-]?\s{0,3}\b(?:however|but|still|instead|that\s+said|nevertheless|though|and|so)\b"
    r",?\s{0,3})?"
)
_REDIRECT = re.compile(rf"{_LEAD}\b(?:{'|'.join(_REDIRECTS)})", re.IGNORECASE)


class OffTopicMarker:
    """Finds a marker in any case, with any white space or hyphens between its words.

    Args:
        phrase: The marker; None or blank: nothing is ever found.

    Raises:
        ConfigurationError: It is no text.
    """

    def __init__(self, phrase: str | None = DEFAULT_MARKER) -> None:
        if phrase is not None and not isinstance(phrase, str):
            raise ConfigurationError(f"off_topic_marker={phrase!r} must be a string or None.")
        words = [word for word in re.split(f"{_GAP}+", phrase or "") if word]
        self.phrase = " ".join((phrase or "").split())
        pattern = (_GAP + "{0,3}").join(map(re.escape, words))
        self._pattern = re.compile(pattern, re.IGNORECASE) if words else None

    def scored_prompt(self, prompt: str) -> str:
        """Return a system prompt without the sentences that tell how to use the marker.

        All else is left as it is, to the byte; so is the whole prompt if it says nothing else.
        """
        kept, end = [], 0
        for found in self._found(prompt):
            if found.start() >= end:
                start = max(end, _instruction_start(prompt, found.start()))
                kept.append(prompt[end:start])
                end = _instruction_end(prompt, start, found)
        rest = "".join((*kept, prompt[end:]))
        return rest if rest.strip() else prompt

    def scored_answer(self, answer: str) -> str:
        """Return a marked answer without the offers that follow the marker.

        From an offer ("However, I can help you with ...") to the end of its sentence, and the
        list after it, nothing is scored. An answer without the marker is left as it is.
        """
        found = next(self._found(answer), None)
        if found is None:
            return answer
        kept = answer[: found.end()] + "".join(_without_offers(answer[found.end() :]))
        kept = kept.strip()
        return kept if len(kept) >= _SHORTEST_ACKNOWLEDGEMENT else f"{self.phrase}."

    def _found(self, text: str) -> Iterator[re.Match[str]]:
        return iter(()) if self._pattern is None else self._pattern.finditer(text)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences and lines of a text, with the white space that follows them."""
    end = 0
    for found in _BREAK.finditer(text):
        yield text[end : found.end()]
        end = found.end()
    yield text[end:]


def _without_offers(text: str) -> Iterator[str]:
    offered = False
    for sentence in _sentences(text):
        offer = _REDIRECT.search(sentence)
        if offer is not None:
            offered = True
            yield sentence[: offer.start()] + " "
        elif not (offered and _LIST_ITEM.match(sentence)):
            offered = offered and not sentence.strip()
            yield sentence


def _instruction_start(prompt: str, marker: int) -> int:
    """Return where the sentence begins that gives the marker."""
    begin = max(0, marker - _REACH)
    starts = [begin, *(found.end() for found in _BREAK.finditer(prompt, begin, marker))]
    while len(starts) > 1 and prompt[starts[-2] : starts[-1]].rstrip().endswith(":"):
        # "If they ask for anything else, say:" and the words to say on the next line.
        starts.pop()
    return starts[-1]


def _instruction_end(prompt: str, start: int, marker: re.Match[str]) -> int:
    """Return where the sentence ends that gives the marker, or the words it is quoted in."""
    limit = min(len(prompt), marker.end() + _REACH)
    quotes = list(_OPENING.finditer(prompt, start, marker.start() + 1))
    end = marker.end()
    if quotes:
        closing = _CLOSING[quotes[-1].group()].search(prompt, end, limit)
        end = end if closing is None else closing.end()
        if prompt[end - 2 : end - 1] in _FULL_STOPS and closing is not None:
            return end + (prompt[end : end + 1] == " ")
    stop = _BREAK.search(prompt, end, limit)
    return limit if stop is None else stop.end()
