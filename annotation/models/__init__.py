"""Campaigns, tasks, assignments and annotators' answers."""

from annotation.models.answers import Annotation, Box, Judgement, Point
from annotation.models.campaigns import (
    Campaign,
    CampaignAttribute,
    Enrolment,
    Instrument,
    Invitation,
    QuotaRule,
    StudyKind,
)
from annotation.models.languages import CampaignLanguage
from annotation.models.letters import InvitationLetter, Mailing
from annotation.models.quality import (
    KnownAnswer,
    LaunchWaiver,
    PracticeAnswer,
    PracticeRound,
    QualityAction,
    QualityEvent,
    QualityMeasure,
    QualityRule,
)
from annotation.models.reports import ImageReport
from annotation.models.snapshots import CampaignSnapshot
from annotation.models.tasks import Assignment, CopiedText, ReviewedCoding, Task, TaskAttribute, TaskStimulus
from annotation.models.watch import FLOOR, CampaignStop, Notice, PrecisionLook

__all__ = [
    "FLOOR",
    "Annotation",
    "Assignment",
    "Box",
    "Campaign",
    "CampaignAttribute",
    "CampaignLanguage",
    "CampaignSnapshot",
    "CampaignStop",
    "CopiedText",
    "Enrolment",
    "ImageReport",
    "Instrument",
    "Invitation",
    "InvitationLetter",
    "Judgement",
    "KnownAnswer",
    "LaunchWaiver",
    "Mailing",
    "Notice",
    "Point",
    "PracticeAnswer",
    "PracticeRound",
    "PrecisionLook",
    "QualityAction",
    "QualityEvent",
    "QualityMeasure",
    "QualityRule",
    "QuotaRule",
    "ReviewedCoding",
    "StudyKind",
    "Task",
    "TaskAttribute",
    "TaskStimulus",
]
