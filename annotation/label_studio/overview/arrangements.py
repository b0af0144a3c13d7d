"""The three arrangements of a campaign in Label Studio, with the costs of each."""

from dataclasses import dataclass

from annotation.label_studio.models import LabelStudioBridge
from annotation.models import Campaign

_Arrangement = LabelStudioBridge.Arrangement


@dataclass(frozen=True)
class Offered:
    """One arrangement that a lead can choose."""

    value: str
    title: str
    what: str
    keeps: str
    costs: str


def offered(campaign: Campaign) -> list[Offered]:
    """Return the arrangements for this campaign, the most common first."""
    per_task, people = campaign.annotators_per_task, campaign.enrolments.count()
    return [
        Offered(
            _Arrangement.PER_SLOT,
            f"{_projects(per_task)}: one for each answer that a screen needs",
            "Every project contains every screen once. You tell each person which project is theirs.",
            "People who stay in their own project do not see other people’s answers.",
            "Label Studio’s free edition lets everybody open every project, so people must stay in theirs. "
            "If somebody works in two projects, they answer screens twice. Only the first answer counts, "
            "so a screen lacks an answer until you delete the further answer in Label Studio and ask somebody else.",
        ),
        Offered(
            _Arrangement.PER_ANNOTATOR,
            "A project for each annotator: "
            + (f"{_projects(people)} now" if people else "nobody has joined yet"),
            "Every person gets their own project with every screen. Only that person’s answers count in the "
            "project.",
            "Nobody sees another person’s answers, and an answer in the wrong project is refused with the reason.",
            "Label Studio does not know when a screen has enough answers. Each push removes the screens that have "
            "enough answers from all projects. Answers given before the next push are surplus, and the work is wasted. "
            "Projects exist only for people who have joined the campaign: push again when somebody joins.",
        ),
        Offered(
            _Arrangement.SHARED,
            "One project for everybody",
            f"All people work in one project that asks for {per_task} answers per screen.",
            "A single project is the easiest to explain. Label Studio gives out screens until each screen "
            "has enough answers.",
            "Label Studio’s free edition does not enforce the number of answers for each screen: additional answers "
            "become surplus. "
            "Anybody who opens a screen from the list sees others’ answers, so answers are not independent.",
        ),
    ]


def in_words(bridge: LabelStudioBridge) -> str:
    """Return the chosen arrangement, in a few words."""
    return {
        _Arrangement.PER_SLOT: "a project for each answer that a screen needs",
        _Arrangement.PER_ANNOTATOR: "a project for each annotator",
        _Arrangement.SHARED: "one project for everybody",
    }[_Arrangement(bridge.arrangement)]


def _projects(number: int) -> str:
    return f"{number:,} project{'' if number == 1 else 's'}"
