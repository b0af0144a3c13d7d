"""A campaign's options: declared here for the lead's forms, the API and the docs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, field_validator

from annotation.kinds.declaration import Kind
from annotation.kinds.registry import RATING_KINDS, coding_question, kind_of, likeness_question
from annotation.models import Campaign, Notice
from foundation.errors import DomainError
from foundation.parameters import ParameterSet, Problem, parameter
from generation.models import Condition
from studies.models import Study

FROM_CAMPAIGN = "campaign:"
FROM_ANSWERS = "answers"
FROM_ASSOCIATIONS = "associations"
MOST_TEXTS = 5_000
LONGEST_TEXT = 1_000
MOMENT = "%Y-%m-%dT%H:%M"
# Options that a lead may change while people work; all others are fixed when the campaign opens.
CHANGEABLE = frozenset(
    {
        "pay",
        "pay_amount",
        "pay_currency",
        "pay_per",
        "pay_budget",
        "edit_minutes",
        "gold_share",
        "repeat_share",
        "repeat_after",
    }
    | {
        "screens_per_person",
        "tasks_per_day",
        "sensitive_per_day",
        "practice_pass_mark",
        "practice_attempts",
        "reopen_withdrawn",
    }
    | {"stop_at_budget", "stop_on", "stop_complete", "stop_half_width", "stop_least", "stop_every", "stop_by"}
    | {"notices", "stuck_hours", "junk_share"}
)
_PRECISION = {"stop_half_width", "stop_least", "stop_every"}
_LIKERT = CHANGEABLE - _PRECISION | {"attributes"}
_MARKING = CHANGEABLE | {
    "visual_source",
    "visual_rule",
    "random_per_stereotype",
    "model_labels",
    "images_per_group",
    "condition",
}
_CALM = CHANGEABLE - {"sensitive_per_day"}


def names_for(kind: Kind) -> frozenset[str]:
    """Return the names of the options that a campaign of this kind has."""
    if kind.rates_attributes:
        return _LIKERT
    if kind.marks_attributes:
        return _MARKING
    changeable = (CHANGEABLE if kind.stimuli.sensitive else _CALM) - _PRECISION
    if kind.stimuli.medium == "text":
        reviewing = {"sure_share", "sure_least"} if coding_question(kind) else set()
        drawing = {"pairs"} if kind.unit == "association" else set()
        return changeable | {"texts", "texts_from"} | reviewing | drawing
    number = "images_per_group" if kind.stimuli.most == 1 else "combinations"
    checking = {"scenarios"} if likeness_question(kind) else set()
    return changeable | {"model_labels", "condition", number} | checking


def _as_labels(value: object) -> object:
    """Sort a list of labels; JSON has no tuples."""
    if isinstance(value, list | tuple) and value and all(isinstance(label, str) for label in value):
        return tuple(sorted(set(value)))
    raise ValueError("not a list of labels")


def _as_texts(value: object) -> object:
    """Return a list of distinct texts, without blank ones and surrounding white space."""
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise ValueError("not a list of texts")
    texts = tuple(dict.fromkeys(filter(None, (text.strip() for text in value))))
    if len(texts) > MOST_TEXTS or not all(len(text) <= LONGEST_TEXT and "\x00" not in text for text in texts):
        raise ValueError("too many texts, or one that is too long")
    return texts


def _as_choices(value: object) -> object:
    """Return a list of words as a tuple, each once; JSON has no tuples."""
    if not isinstance(value, list | tuple):
        raise ValueError("not a list of words")
    return tuple(dict.fromkeys(value))


class Options(ParameterSet):
    """Options of a campaign: its stimuli, the limits for annotators, pay and stop rules."""

    error_code: ClassVar[str] = "options_invalid"

    attributes: str = parameter(
        "stereotypes",
        words={
            "stereotypes": "Stereotypes by the study’s rule",
            "all": "Everything the resource lists for the chosen groups",
        },
        label="Attributes to rate",
        help="For rating campaigns: which attributes of the study’s groups are rated.",
    )
    visual_source: str = parameter(
        "all",
        expected="'all', or 'campaign:' followed by the short name of a rating campaign of this study",
        label="Stereotypes to ask about",
        help="Only attributes that can be seen can be marked on an image.",
    )
    visual_rule: str = parameter(
        "unanimous",
        words={"unanimous": "everybody rated it 4 or 5", "majority": "more than half rated it 4 or 5"},
        label="An attribute counts as visual when",
        help="Used only with a rating campaign.",
    )
    random_per_stereotype: int = parameter(
        1,
        ge=0,
        le=20,
        label="Random attributes per stereotype",
        help="Random attributes are drawn from visual attributes that are not listed for the group. They "
        "are the baseline of θ.",
    )
    model_labels: Annotated[tuple[str, ...] | None, BeforeValidator(_as_labels)] = parameter(
        None,
        expected="a list of at least one model label, or leave it out for all",
        label="Models",
        help="Tick none to use all.",
    )
    images_per_group: int | None = parameter(
        None, ge=1, le=100_000, label="Images per group and model", help="Leave empty for all."
    )
    combinations: int = parameter(
        10,
        ge=1,
        le=1_000,
        label="Screens per prompt, at most",
        help="If a prompt’s images can be combined in more ways than this, this many combinations are drawn, as "
        "evenly as possible.",
    )
    scenarios: str = parameter(
        "undecided",
        words={"undecided": "Scenarios that no earlier check has decided", "all": "All scenarios"},
        label="Scenarios",
        help="Only for kinds that ask whether the images of a scenario are alike.",
    )
    texts: Annotated[tuple[str, ...], BeforeValidator(_as_texts)] = parameter(
        (),
        expected=f"a list of at most {MOST_TEXTS:,} texts of at most {LONGEST_TEXT:,} characters",
        label="Texts",
        help="One text per line. Each text is a screen.",
    )
    texts_from: str = parameter(
        "",
        expected="'campaign:' followed by the short name of a campaign of this study that asks for texts, 'answers' or "
        "'associations'",
        label="Texts from",
        help="From a campaign: each text that counts is a screen, which is withdrawn when the writer "
        "withdraws consent. 'answers': models’ answers that the rules have coded, only for kinds that code "
        "answers. 'associations': pairs that a judge rated, only for kinds about associations.",
    )
    pairs: int = parameter(
        200,
        ge=1,
        le=MOST_TEXTS,
        label="Associations to draw",
        help="Associations are drawn at random, with the same number for each level that the judge gave if "
        "there are enough.",
    )
    sure_share: float = parameter(
        0.1,
        ge=0,
        le=1,
        expected="a share from 0 to 1",
        label="Share of sure codings to check",
        help="Drawn at random. Codings that the rules are not sure of are all checked.",
    )
    sure_least: int = parameter(
        100,
        ge=0,
        le=100_000,
        label="Minimum number of sure codings to check",
        help="If there are fewer, all are checked.",
    )
    condition: str = parameter(
        Condition.DEFAULT.value,
        words=dict(Condition.choices),
        label="Condition",
        help="Only images made for this condition are shown.",
    )
    pay: str = parameter(
        "",
        max_length=500,
        label="What people get, in your words",
        help="Shown with the invitation and at the end.",
    )
    edit_minutes: int = parameter(
        30,
        ge=0,
        le=10_080,
        label="Minutes in which an answer can be corrected",
        help="Counted from the moment the answer was submitted.",
    )
    gold_share: float = parameter(
        0.0,
        ge=0,
        le=0.5,
        expected="a share from 0 to 0.5",
        label="Share of gold tasks",
        help="How often an annotator gets a gold task instead of a new one.",
    )
    repeat_share: float = parameter(
        0.0,
        ge=0,
        le=0.5,
        expected="a share from 0 to 0.5",
        label="Share of repeated tasks",
        help="How often an annotator gets one of their earlier tasks instead of a new one.",
    )
    repeat_after: int = parameter(
        10, ge=1, le=1000, label="Tasks in between", help="How many other tasks come before a repeat."
    )
    screens_per_person: int = parameter(
        40,
        ge=1,
        le=100_000,
        label="Screens of each person",
        help="How many screens you expect each person to answer. This number is not a limit. The number of "
        "people needed for the quotas is calculated from it.",
    )
    tasks_per_day: int | None = parameter(
        None, ge=1, le=10_000, label="Screens a day, at most", help="Leave empty for no limit."
    )
    sensitive_per_day: int | None = parameter(
        None,
        ge=0,
        le=10_000,
        label="Screens a day with offensive stereotypes, at most",
        help="The limit applies to screens with a stereotype that the resource’s raters called offensive, and to all "
        "screens of a sensitive kind. "
        "Leave empty for no limit.",
    )
    practice_pass_mark: float = parameter(
        0.8,
        ge=0,
        le=1,
        expected="a share from 0 to 1",
        label="Share that passes",
        help="The share of right answers needed to pass practice.",
    )
    practice_attempts: int = parameter(
        3, ge=1, le=20, label="Rounds of practice", help="How many rounds each person may try."
    )
    pay_amount: float | None = parameter(
        None,
        ge=0,
        le=1_000_000,
        expected="an amount from 0 to 1,000,000",
        label="Rate",
        help="Pay is calculated from this rate, and each person sees their own pay. Leave empty for no rate.",
    )
    pay_currency: str = parameter(
        "EUR",
        pattern=r"^[A-Z]{3}$",
        max_length=3,
        expected="a currency as three capital letters, such as EUR",
        label="Currency",
        help="Three letters, such as EUR.",
    )
    pay_per: str = parameter(
        "hour",
        words={"hour": "an hour of active work", "task": "a submitted screen"},
        label="For",
        help="What the rate is paid for.",
    )
    pay_budget: float | None = parameter(
        None,
        ge=0,
        le=100_000_000,
        expected="an amount from 0 to 100,000,000",
        label="Budget",
        help="The largest amount that all annotators together may be paid. Leave empty for no budget.",
    )
    reopen_withdrawn: bool = parameter(
        True,
        expected="true or false",
        label="Ask somebody else when an annotator withdraws",
        help="When an annotator withdraws consent, their answers no longer count.",
    )

    stop_at_budget: bool = parameter(
        False,
        expected="true or false",
        label="Stop when the budget is spent",
        help="The amount spent includes the pay so far, the pay for open screens, and the cost of places that panels "
        "have given.",
    )
    stop_on: str = parameter(
        "",
        max_length=16,
        expected="a date and time such as 2027-01-31T18:00, by the server’s clock",
        label="Stop on",
        help="A date and time by the server’s clock. Leave empty for none.",
    )
    stop_complete: bool = parameter(
        False,
        expected="true or false",
        label="Stop when every screen has all the answers it needs",
        help="Screens that were withdrawn do not count.",
    )
    stop_half_width: float | None = parameter(
        None,
        ge=0.001,
        le=100,
        expected="a number from 0.001 to 100",
        label="Stop at this half-width of θ",
        help="Half the width of the 95 % interval of θ over all groups, computed from all labels of the study. If "
        "you look at the interval while answers come in, it becomes too narrow, and you more often find effects that "
        "do not exist. Preregister this rule. Leave empty for none.",
    )
    stop_least: int = parameter(
        200,
        ge=20,
        le=10_000_000,
        expected="a whole number from 20 to 10,000,000",
        label="Answers before the first look",
        help="The interval is first computed after this many answers.",
    )
    stop_every: int = parameter(
        200,
        ge=20,
        le=10_000_000,
        expected="a whole number from 20 to 10,000,000",
        label="Answers between looks",
        help="Each computation of the interval is called a look. With fewer looks, the interval stays closer to its "
        "true width. The campaign’s page lists all looks.",
    )
    stop_by: str = parameter(
        "pause",
        words={"pause": "pause the campaign", "close": "close the campaign"},
        label="A stop rule will",
        help="People can still submit the screens that they have open.",
    )
    notices: Annotated[tuple[str, ...], BeforeValidator(_as_choices)] = parameter(
        tuple(Notice.Kind.values),
        words={kind.value: kind.label for kind in Notice.Kind},
        label="E-mail leads when",
        help="Leads get one e-mail for each notice. Pages show all notices. E-mails need a mail server.",
    )
    stuck_hours: int = parameter(
        24,
        ge=1,
        le=720,
        label="Hours without an answer",
        help="A campaign that still needs answers counts as stuck after this many hours without an answer.",
    )
    junk_share: float = parameter(
        0.25,
        gt=0,
        le=1,
        expected="a share above 0, at most 1",
        label="Share of flagged people",
        help="Leads get a notice when quality rules flag a larger share of the people who answered.",
    )

    @field_validator("stop_on")
    @classmethod
    def _require_moment(cls, value: str) -> str:
        if value:
            datetime.strptime(value, MOMENT)
        return value

    @classmethod
    def parse(cls, raw: Mapping[str, Any] | None, *, kind: Kind, study: Study) -> Self:
        """Return checked options; raises DomainError `options_invalid` that names each wrong field."""
        raw = {name: value for name, value in (raw or {}).items() if value is not None}
        names = names_for(kind)
        if unknown := raw.keys() - names:
            raise cls.refusal([Problem(name, raw[name], None) for name in raw if name in unknown])
        options = cls.read(raw)
        if problems := options._missing_of(study, kind):
            raise _invalid(problems)
        return options

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Return the options of a campaign."""
        return cls.parse(campaign.options, kind=kind_of(campaign), study=campaign.study)

    @classmethod
    def refusal(cls, problems: list[Problem]) -> DomainError:
        """Return one error that names each wrong option."""
        return _invalid({problem.name: cls.sentence(problem) for problem in problems})

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        if problem.declaration is None:
            return "There is no such option."
        if words := problem.declaration.words:
            return f"Choose one of {', '.join(words)}."
        return f"Give {problem.declaration.expected}."

    def _missing_of(self, study: Study, kind: Kind) -> dict[str, str]:
        """Return the options that name something the study does not have."""
        problems: dict[str, str] = {}
        if self.visual_source != "all":
            slug = self.visual_source.removeprefix(FROM_CAMPAIGN)
            if slug == self.visual_source:
                problems["visual_source"] = f"Give {self.declaration('visual_source').expected}."
            elif not study.campaigns.filter(slug=slug, kind__in=RATING_KINDS).exists():
                problems["visual_source"] = f"This study has no rating campaign “{slug}”."
        if self.texts_from and (problem := self._wrong_source(study, kind)):
            problems["texts_from"] = problem
        if self.stop_at_budget and self.pay_budget is None:
            problems["stop_at_budget"] = "Set the budget at which the campaign stops."
        if self.model_labels is not None:
            labels = study.images.values_list("model_label", flat=True).order_by().distinct()
            if missing := sorted(set(self.model_labels) - set(labels)):
                problems["model_labels"] = f"The study has no images of {', '.join(missing)}."
        return problems

    def _wrong_source(self, study: Study, kind: Kind) -> str:
        """Return why texts cannot come from the named source; empty if they can."""
        slug = self.texts_from.removeprefix(FROM_CAMPAIGN)
        if slug == self.texts_from and slug not in (FROM_ANSWERS, FROM_ASSOCIATIONS):
            return f"Give {self.declaration('texts_from').expected}."
        if self.texts:
            return "Paste texts, or take texts from a campaign or from models, but not both."
        if slug == FROM_ANSWERS:
            return "" if coding_question(kind) else "This kind does not code models’ answers."
        if slug == FROM_ASSOCIATIONS:
            return "" if kind.unit == "association" else "This kind is not about associations."
        source = study.campaigns.filter(slug=slug).first()
        if source is None or not kind_of(source).asks_for_texts:
            return f"This study has no campaign “{slug}” that asks for texts."
        return ""


def _invalid(problems: Mapping[str, str]) -> DomainError:
    fields = {f"options.{name}": sentence for name, sentence in problems.items()}
    message = " ".join(f"{name}: {sentence}" for name, sentence in fields.items())
    return DomainError("options_invalid", message, fields=fields)
