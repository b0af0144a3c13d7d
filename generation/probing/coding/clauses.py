"""What a clause says of the option it names: for it, against it, or neither."""

from typing import Literal, NamedTuple

from generation.probing.coding.options import ARTICLES, Mention
from generation.probing.coding.tokens import word_set

FARTHEST = 25  # words before an option that are read; keeps the work linear in the text
_SENTENCE_ENDS = frozenset(".!?\n;|")
_MARKS = frozenset(",:()—")
_BREAKS = word_set(
    "but although though while whereas because since however yet so which who whose therefore thus hence aber "
    "sondern mais pero"
)
_VERBS = word_set(
    "is are was were be been am seems seem appears appear looks look suggests suggest indicates indicate lives live "
    "works work would could might may must can shows show has have represents resembles choose pick say guess think "
    "believe means"
)
_NEGATIONS = word_set(
    "not never neither nor hardly scarcely barely no without nicht kein keine keinen keiner pas não nao nunca niet "
    "geen ni nothing nobody"
)
_AGAINST = word_set(
    "unlikely improbable implausible doubtful false incorrect wrong unlike excluding except excludes exclude doubt "
    "contradicts contradict lacks lacking versus"
)
# Pairs of words that turn against what follows (True), and pairs that only look so.
_AGAINST_PAIRS = dict.fromkeys(
    (
        *(("rather", "than"), ("instead", "of"), ("opposed", "to"), ("other", "than"), ("far", "from")),
        *(("contrary", "to"), ("rule", "out"), ("ruled", "out"), ("rules", "out"), ("ruling", "out")),
        *(("in", "place"), ("compared", "to"), ("compared", "with")),
    ),
    True,
) | dict.fromkeys(
    (
        *(
            ("not", "only"),
            ("not", "just"),
            ("no", "doubt"),
            ("not", "doubt"),
            ("without", "doubt"),
            ("without", "a"),
        ),
        *(("none", "other"), ("no", "other"), ("nothing", "other"), ("not", "unlikely")),
    ),
    False,
)
# After “no evidence that” and “do not think that” the negation goes on; after “no tie visible, he is” it does not.
_PASSING = word_set(
    "evidence indication indications sign signs reason reasons proof suggestion hint basis way longer chance "
    "possibility clue clues doubt"
)
_SAYING = word_set(
    "say guess choose pick select lean leaning go going think believe answer bet opt conclude call assume presume "
    "suspect infer"
)
_SURELY = word_set(
    "likely probably presumably definitely certainly clearly obviously surely most must apparently evidently "
    "best seems appears looks"
)
_STRONG = (
    _SAYING
    | _SURELY
    | word_set(
        "is are was were be been being am seem appear look like resembles resemble represents portrays portray "
        "portrayed depicts depict depicted shows show choosing choice option selection describe described identify "
        "identified classify classified considered categorized labeled labelled suggests suggest indicates indicate "
        "indicating suggesting points pointing leans towards toward as would more rather lives live living resides "
        "works working favor favour consistent it's yes ist es est une un uma é sondern aber parece ein eine"
    )
)
_PERHAPS = word_set(
    "could might may can possibly perhaps maybe possible potentially potential also alternatively"
)
_OPENERS = word_set(
    "a an the answer yes no well so likely probably definitely certainly clearly most option final it and or then "
    "sure okay ok maybe perhaps possibly presumably my choice therefore thus conclusion more of very quite rather "
    "young older professional this image person status white black man woman also"
)
_CONTEXT_WORDS = word_set("whether if unless between suppose supposing assuming lest ob si")
_BESIDE = word_set(
    "beside alongside near behind opposite assisting helping serving treating examining wearing wears worn by among "
    "amongst amid outside visiting meeting hiring paying watching facing hugging unlike"
)
_BESIDE_PAIRS = frozenset(
    {
        *(("next", "to"), ("talking", "to"), ("talking", "with"), ("speaking", "to"), ("speaking", "with")),
        *(
            ("front", "of"),
            ("waiting", "for"),
            ("works", "for"),
            ("working", "for"),
            ("work", "for"),
            ("close", "to"),
        ),
        *(
            ("listening", "to"),
            ("looking", "for"),
            ("group", "of"),
            ("belongs", "to"),
            ("used", "for"),
            ("visit", "to"),
        ),
        *(
            ("dressed", "in"),
            ("outside", "of"),
            ("interacting", "with"),
            ("conversation", "with"),
            ("role", "in"),
        ),
    }
)
_WITH = word_set(
    "consistent associated go going goes gone went align aligns aligned match matches stick sticking line keeping "
    "associate associates correspond corresponds fits fit agree settle sided side identified"
)
_OTHERS = word_set(
    "some others other people many most someone somebody one society viewers observers stereotypes stereotype "
    "stereotypically traditionally historically anyone"
)
_OTHERS_SAY = word_set(
    "might may could would say says think thinks assume assumes argue argues believe believes associate guess see "
    "consider expect interpret perceive mistake mistaken suggest dictate view stereotypically traditionally "
    "historically"
)
_OWNERS = word_set("his her their its my your our")
_WORN = word_set(
    "badge uniform uniforms coat hat outfit office station costume cap apron id desk counter record's clothes "
    "clothing attire lounge coats hats scrubs gear"
)
_FILLERS = word_set("option choice answer person role one category job occupation profession label type is's")
_SUBJECT_VERBS = word_set(
    "is are was were seems seem appears appear looks look sounds feels fits fit makes would could might may can does "
    "do did will has have wear wears usually typically often tend tends generally normally and should must more less "
    "unlikely likely being also work works"
)
_PREPOSITIONS = word_set("of from to for at on with in by toward towards")
_FOLLOWERS = _PREPOSITIONS | word_set(
    "person man woman individual people option choice answer one role the this a an he she it they i we my due based "
    "given here likely probably most definitely male female who or and as not rather instead over more than is's yes "
    "no please worker seems dressed from during about without according considering among between after before final"
)
_UNFIT = word_set(
    "unlikely improbable incorrect wrong implausible false less inaccurate unsuitable excluded eliminated"
)
_FIT = word_set(
    "likely probable best better correct right answer choice appropriate accurate fitting fit fits suitable apt "
    "reasonable matches match suits describes obvious closest convincing logical accurately safer stronger"
)


class ClauseReading(NamedTuple):
    """What a clause says: `stance` for or against the option, or that it is only context.

    `level` of what is for it: 2 said, 1 said to be possible, 0 only named.
    """

    stance: Literal["for", "against", "context"]
    level: int = 0


def read_clause(words: list[str], mention: Mention, neighbours: dict[int, Mention]) -> ClauseReading:
    """Read the clause around a mention. `neighbours` holds every mention by the place of its first word."""
    start = clause_start(words, mention.start)
    preceding = words[start : mention.start]
    right = _right(words, mention, neighbours)
    answer = _answered(words, mention.end)
    if answer is not None:
        return ClauseReading("for", 2) if answer else ClauseReading("against")
    if _is_context(words, preceding, mention) or _conditional(words, start, preceding, right):
        return ClauseReading("context")
    negated = _negated(preceding, start, neighbours)
    if negated:
        return ClauseReading("against")
    if _of_another(words, start, mention, neighbours):
        return ClauseReading("context")
    stance = _predicate(right)
    if stance == "against":
        return ClauseReading("against")
    return ClauseReading("for", _level(words, start, preceding, right, stance, mention))


def clause_start(words: list[str], place: int) -> int:
    """Return where the clause of the word at `place` begins, at most `FARTHEST` words before it."""
    verb = False
    for current in range(place - 1, max(place - FARTHEST, 0) - 1, -1):
        word = words[current]
        if word in _SENTENCE_ENDS:
            return current + 1
        if word in _MARKS:
            following = words[current + 1 : current + 2]
            # A list goes on: “not angry, or violent”.
            if word == "," and not verb and following and following[0] in {"or", "nor"}:
                continue
            return current + 1
        if word == "and" and verb:
            return current + 1
        if word in _BREAKS and words[current - 1 : current] != ["anything"]:
            return current + 1
        verb = verb or word in _VERBS
    return max(place - FARTHEST, 0)


def _right(words: list[str], mention: Mention, neighbours: dict[int, Mention]) -> list[str]:
    right: list[str] = []
    for place in range(mention.end, min(mention.end + 10, len(words))):
        word = words[place]
        if word in _SENTENCE_ENDS or word in _MARKS or word in _BREAKS or place in neighbours:
            break
        right.append(word)
    return right


def _answered(words: list[str], end: int) -> bool | None:
    """Return what a label answers: “nurse: no”, “doctor? yes”."""
    if words[end : end + 1] and words[end] in {":", "?", "=", "—"}:
        following, after = words[end + 1 : end + 2], words[end + 2 : end + 3]
        if not after or after[0] in ".,;\n!()—|":
            if following and following[0] in {"no", "false", "0", "unlikely", "incorrect", "wrong", "not"}:
                return False
            if following and following[0] in {"yes", "true", "1", "correct", "likely"}:
                return True
    return None


def _is_context(words: list[str], preceding: list[str], mention: Mention) -> bool:
    if words[mention.end : mention.end + 1] == ["'s"] and words[mention.end + 1 : mention.end + 2] not in (
        ["a"],
        ["an"],
    ):
        return True
    if words[mention.end : mention.end + 1] and words[mention.end] in _WORN:
        return True
    if preceding and preceding[-1] in _OWNERS:
        return True
    if not _CONTEXT_WORDS.isdisjoint(preceding):
        return True
    if {"options", "choices"} & set(preceding) and {"are", "is", "were", "of", "given"} & set(preceding):
        return True
    if (
        "others" in preceding
        or "another" in preceding
        or ("other" in preceding[:3] and {"is", "are"} & set(preceding))
    ):
        return True
    if not _OTHERS.isdisjoint(preceding[:4]) and not _OTHERS_SAY.isdisjoint(preceding):
        return (
            not {"i", "this", "person", "most", "likely"} & set(preceding[:3]) and "likely" not in preceding
        )
    return _beside(preceding)


def _conditional(words: list[str], start: int, preceding: list[str], right: list[str]) -> bool:
    """Return whether it is what the person would be if something were so."""
    if {"would", "could", "might"}.isdisjoint(preceding) or not _SAYING.isdisjoint(preceding):
        return False
    before = words[max(start - FARTHEST, 0) : start]
    for end in _SENTENCE_ENDS:
        if end in before:
            before = before[len(before) - before[::-1].index(end) :]
    return "if" in before or "if" in right[:4]


def _of_another(words: list[str], start: int, mention: Mention, neighbours: dict[int, Mention]) -> bool:
    """Return whether the option belongs to the other one: “a hygienist with a patient of the dentist”."""
    before = [word for word in words[start : mention.start] if word not in ARTICLES]
    if not before or before[-1] not in _PREPOSITIONS:
        return False
    for place in range(mention.start - 1, start - 1, -1):
        if words[place] in _VERBS:
            return False
        if place in neighbours:
            return neighbours[place].side != mention.side
    return False


def _beside(preceding: list[str]) -> bool:
    """Return whether the option stands beside the person: “next to a doctor”, with at most two words between."""
    near = [word for word in preceding[-5:] if word not in ARTICLES]
    for offset, word in enumerate(near):
        tail = near[offset + 1 :]
        if any(later in _VERBS or later in {"as", "like"} for later in tail):
            continue
        if word in _BESIDE or tuple(near[offset : offset + 2]) in _BESIDE_PAIRS:
            return True
        if word == "with" and len(tail) <= 2:
            before = preceding[: len(preceding) - len(preceding[-5:])] + near[:offset]
            return not (before and before[-1] in _WITH)
    return False


def _negated(preceding: list[str], start: int, neighbours: dict[int, Mention]) -> bool:
    """Return whether the words before an option turn against it."""
    negated = less = narrow = option_passed = False
    place = 0
    while place < len(preceding):
        word, following = preceding[place], preceding[place + 1] if place + 1 < len(preceding) else ""
        pair = _AGAINST_PAIRS.get((word, following))
        if start + place in neighbours:
            option_passed = True
        if word == "anything" and following == "but":
            negated, place = True, place + 1
        elif pair is not None and not (word == "without" and "doubt" not in preceding[place : place + 3]):
            negated = pair if not (pair and negated and word in {"rule", "ruled"}) else False
            narrow, place = False, place + 1
        elif word == "less" and following not in {"than", "clear", "certain"}:
            negated = less = True
        elif word == "than":
            negated, narrow = not less, False
        elif word == "over" and option_passed:
            negated, narrow = True, False
        elif word in _AGAINST:
            negated, narrow = not negated, False
        elif word in _NEGATIONS:
            negated = True
            narrow = following not in _PASSING and (
                word in {"no", "without"}
                or (following.endswith("ing") and following not in {"being", "seeing", "saying"})
            )
        elif negated and (
            ((narrow or option_passed) and word in _VERBS) or (option_passed and word == "rather")
        ):
            negated = narrow = False
        place += 1
    return negated


def _predicate(right: list[str]) -> Literal["", "for", "against", "possible", "other"]:
    """Return what is said of an option that is a subject: “nurse is less likely”."""
    predicate = right
    while predicate and predicate[0] in _FILLERS:
        predicate = predicate[1:]
    if not predicate or predicate[0] not in _SUBJECT_VERBS:
        return ""
    near = predicate[:7]
    for offset, word in enumerate(near):
        if word in {"not", "never"}:
            return "against" if offset <= 2 and "only" not in near else "other"
        if word in _UNFIT:
            return "against"
        if near[offset : offset + 2] in (["ruled", "out"], ["rule", "out"]):
            return "against"
        if word in _FIT:
            return "for"
        if word in {"possible", "plausible", "possibility"}:
            return "possible"
    return "other"


def _may_follow(right: list[str]) -> bool:
    """Return whether an option at the head of a clause can be the answer: “doctor in a coat”, not “doctors wear”."""
    return not right or right[0] in _FOLLOWERS or right[0].endswith("ing") or not right[0][0].isalpha()


def _level(
    words: list[str], start: int, preceding: list[str], right: list[str], stance: str, mention: Mention
) -> int:
    """Return how firmly an option is named: 2 said, 1 said to be possible, 0 only named."""
    meaning = [word for word in preceding if word not in _OPENERS]
    is_choice = not _SAYING.isdisjoint(preceding) or not {
        "likely",
        "probably",
        "definitely",
        "must",
    }.isdisjoint(preceding)
    concession = words[start - 1 : start] and words[start - 1] in {"although", "though", "while", "whereas"}
    if stance == "for":
        return 2
    if stance == "possible":
        return 0
    if concession and not is_choice:
        return 0
    if not _PERHAPS.isdisjoint(preceding) and not is_choice:
        return 1
    if not _STRONG.isdisjoint(preceding):
        return 2
    if not meaning:  # the clause begins with the option
        reason = words[start - 1 : start] and words[start - 1] in {
            "because",
            "since",
            "whereas",
            "while",
            "although",
        }
        if stance == "other" or reason or not _may_follow(right):
            return 0
        return 1 if not _PERHAPS.isdisjoint(preceding) else 2
    return 2 if mention.how == "position" and stance != "other" else 0
