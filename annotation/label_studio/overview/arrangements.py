"""The three ways a campaign can be laid out in a Label Studio, with their costs in plain words."""

from dataclasses import dataclass

from annotation.models import Campaign, LabelStudioBridge

_Arrangement = LabelStudioBridge.Arrangement


@dataclass(frozen=True)
class Offered:
    """One arrangement as a lead chooses it."""

    value: str
    title: str
    what: str
    keeps: str
    costs: str


def offered(campaign: Campaign) -> list[Offered]:
    """Return what can be chosen for this campaign, the usual one first."""
    wanted, people = campaign.annotators_per_task, campaign.enrolments.count()
    return [
        Offered(
            _Arrangement.PER_SLOT,
            f"{_projects(wanted)}: one for each answer a screen asks for",
            "Every project holds every screen once. You tell each person which project is theirs.",
            "Nobody comes across another’s answers in their own project.",
            "Label Studio’s free edition lets everybody open every project, so this rests on people staying in theirs. "
            "Whoever works in two projects answers screens twice: only the first answer counts, and the second is "
            "missing until you have it deleted there and somebody else asked.",
        ),
        Offered(
            _Arrangement.PER_ANNOTATOR,
            "A project for each annotator: "
            + (f"{_projects(people)} now" if people else "nobody has joined yet"),
            "Every person gets a project of their own with every screen. Only their answers count in it.",
            "Nobody comes across another’s answers, and an answer in the wrong project is refused with the reason.",
            "Label Studio does not know when a screen has enough answers. Each push takes such screens out of all "
            "projects; what is answered beyond them before that is surplus, work that was done for nothing. "
            "Projects exist only for people who have joined the campaign: push again when somebody joins.",
        ),
        Offered(
            _Arrangement.SHARED,
            "One project for everybody",
            f"All people work in one project that asks for {wanted} answers a screen.",
            "The least to explain; Label Studio hands out screens until it has enough for each.",
            "Label Studio’s free edition does not enforce that number: answers beyond it become surplus. "
            "And whoever opens a screen from the list sees what others answered, so answers are not blind.",
        ),
    ]


def in_words(bridge: LabelStudioBridge) -> str:
    """Return the arrangement that was chosen, in a few words."""
    return {
        _Arrangement.PER_SLOT: "a project for each answer a screen asks for",
        _Arrangement.PER_ANNOTATOR: "a project for each annotator",
        _Arrangement.SHARED: "one project for everybody",
    }[_Arrangement(bridge.arrangement)]


def _projects(number: int) -> str:
    return f"{number:,} project{'' if number == 1 else 's'}"
