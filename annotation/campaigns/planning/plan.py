"""A campaign's plan: its screens, the order of stimuli, and notes for the lead."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedStimulus:
    """An image or a text on a screen."""

    image_id: int | None = None
    text: str = ""
    writer_id: int | None = None  # of a text that an annotator wrote in another campaign
    reviews: tuple["PlannedReview", ...] = ()  # the models' answers with this text


@dataclass(frozen=True)
class PlannedReview:
    """A coding by the rules that people check; `first` is the option that the question names first."""

    coding_id: int
    first: str


@dataclass(frozen=True)
class PlannedTask:
    """One screen: of a campaign about attributes its image (None for a rating) and its attributes in the order shown.

    A screen of any other kind of campaign has stimuli, in the order shown, and questions about them.
    """

    image_id: int | None = None
    screen: int = 0
    attribute_ids: tuple[int, ...] = ()
    # Asks for an offensive stereotype of the group shown (a rating, of any group), or is of a kind that is sensitive.
    sensitive: bool = False
    group_id: int | None = None  # the single group that is shown
    stimuli: tuple[PlannedStimulus, ...] = ()
    questions: int = 0  # how many answers it asks for, without those that depend on other answers


@dataclass(frozen=True)
class PlannedAttribute:
    """An attribute asked in a group's images, with its role."""

    group_id: int
    attribute_id: int
    role: str


@dataclass(frozen=True)
class PlannedGroup:
    """The numbers planned for one identity group."""

    group_id: int
    name: str
    images: int
    stereotypes: int
    random_attributes: int
    screens: int


@dataclass(frozen=True)
class CampaignPlan:
    """The tasks of a campaign when it opens; `problems` are sentences for the lead."""

    tasks: tuple[PlannedTask, ...]
    planned_attributes: tuple[PlannedAttribute, ...]
    images: int
    attributes: int
    annotators_per_task: int
    groups: tuple[PlannedGroup, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def screens(self) -> int:
        return len(self.tasks)

    @property
    def submissions(self) -> int:
        """How many screens are answered in all."""
        return len(self.tasks) * self.annotators_per_task

    @property
    def judgements(self) -> int:
        """The total number of answers about one attribute, or to one question."""
        asked_count = sum(len(task.attribute_ids) + task.questions for task in self.tasks)
        return asked_count * self.annotators_per_task
