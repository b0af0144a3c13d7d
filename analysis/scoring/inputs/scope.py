"""The scope of a scorer: the images of the study, and the attributes to look for in each group's images."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet

from analysis.models import Scorer
from analysis.scoring.inputs.pictures import StoredFile
from annotation.campaigns.planning.visual_attributes import visual_attributes
from annotation.kinds.registry import RATING_KINDS
from annotation.models import Campaign, CampaignAttribute
from foundation.errors import DomainError
from generation.models import Condition, GenerationRequest, Image
from generation.prompts.attributes import attributes_by_group
from studies.models import Study

Kind = Scorer.Kind
CONDITIONS: dict[str, tuple[str, ...]] = {
    Kind.CLIP: (Condition.DEFAULT,),
    Kind.CAPTIONS: (Condition.DEFAULT,),
    Kind.PULL: (Condition.DEFAULT, Condition.STEREOTYPICAL, Condition.NON_STEREOTYPICAL),
    Kind.MCAS: (Condition.TARGET, Condition.ATTRIBUTE),
}
ASKED = "asked"
STEREOTYPES = "stereotypes"
_AT_ONCE = 5_000


@dataclass(frozen=True)
class ScopeImage:
    """An image to score: its key, its group and its file."""

    pk: int
    group: int | None
    file: StoredFile


def images_of(study: Study, kind: str) -> QuerySet[Image]:
    """Return the images that a scorer of this kind uses: those with a file that are not retracted."""
    images = Image.objects.filter(study=study, condition__in=CONDITIONS[kind], retracted_at=None)
    if kind in {Kind.CLIP, Kind.PULL}:
        images = images.filter(group__isnull=False)
    return images.exclude(sha256="").order_by("pk")


def scope_images(images: QuerySet[Image]) -> list[ScopeImage]:
    """Return the images as `ScopeImage` objects."""
    rows = images.values_list("pk", "group_id", "sha256", "file").iterator(chunk_size=_AT_ONCE)
    return [ScopeImage(pk, group, StoredFile(sha256, name)) for pk, group, sha256, name in rows]


def attributes_asked(study: Study, which: str = ASKED) -> dict[int, dict[int, str]]:
    """Return the attributes (key to text) that a scorer looks for in the images of each group.

    `asked`: the attributes that marking campaigns ask about the group; without any, as `stereotypes`.
    `stereotypes`: the visual attributes among the group's stereotypes, and among its random attributes if the
    study has prompts for them.
    """
    by_group: dict[int, dict[int, str]] = defaultdict(dict)
    if which == ASKED:
        planned = CampaignAttribute.objects.filter(campaign__study=study).order_by("attribute__text")
        for group, attribute, text in planned.values_list("group_id", "attribute_id", "attribute__text"):
            by_group[group][attribute] = text
    listed = _listed(study)
    return {
        group: by_group.get(group) or listed.get(group, {})
        for group in study.groups.values_list("pk", flat=True)
    }


def _listed(study: Study) -> dict[int, dict[int, str]]:
    visual = _visual(study)
    conditions = [Condition.STEREOTYPICAL]
    if study.prompt_templates.filter(condition=Condition.NON_STEREOTYPICAL).exists():
        conditions.append(Condition.NON_STEREOTYPICAL)
    by_group: dict[int, dict[int, str]] = defaultdict(dict)
    for condition in conditions:
        for group, attributes in attributes_by_group(study, condition).items():
            by_group[group] |= {
                attribute.pk: attribute.text
                for attribute in attributes
                if not visual or attribute.pk in visual
            }
    return by_group


def _visual(study: Study) -> set[int]:
    rating = study.campaigns.filter(kind__in=RATING_KINDS).exclude(state=Campaign.State.DRAFT)
    latest = rating.order_by("-pk").first()
    return visual_attributes(latest)[0] if latest else set()


def texts_of_mcas(study: Study) -> list[str]:
    """Return the texts that MCAS embeds: the texts of both attribute sets, and the prompts of targets."""
    sets = study.parameters.get("mcas", {}).get("sets", [])
    texts = [text for attribute_set in sets for text in attribute_set.get("texts", [])]
    if not texts:
        raise DomainError(
            "mcas_sets_missing", f"The study “{study}” has no attribute sets, so MCAS cannot be computed."
        )
    requests = GenerationRequest.objects.filter(run__study=study, template__condition=Condition.TARGET)
    images = Image.objects.filter(study=study, condition=Condition.TARGET, retracted_at=None)
    for prompts in (requests, images):
        texts += prompts.exclude(prompt="").order_by("prompt").values_list("prompt", flat=True).distinct()
    return list(dict.fromkeys(texts))
