"""Plan a campaign that asks questions about images: which images a screen shows, with or without their prompt."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.answers.questions.scenario_verdicts import Likeness, scenario_verdicts
from annotation.campaigns.planning.combinations import Arrangement, Candidate, screens
from annotation.campaigns.planning.plan import CampaignPlan, PlannedGroup, PlannedStimulus, PlannedTask
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options
from annotation.kinds.registry import likeness_question
from annotation.kinds.stimuli import Stimuli
from annotation.models import Campaign
from generation.models import Image

_NAMED = 5
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_SEVERAL = {
    "model": "images by {} different models",
    "group": "images of {} different groups",
    None: "{} images",
}


@dataclass(frozen=True)
class ShownImage:
    """An image of the study, with the values that decide which others may be shown with it."""

    pk: int
    key: str  # made of its content only
    group_id: int | None
    group: str
    model: str
    prompt: str
    scenario: str
    seed: str

    def has(self, trait: str) -> bool:
        """Return whether the image's value of the trait is known."""
        return trait == "model" or bool(getattr(self, trait))

    def shared(self, together: Iterable[str]) -> str:
        """Return the common values of a set's images; a prompt about two groups counts as two prompts."""
        parts = [f"{trait}={getattr(self, trait)}" for trait in together]
        return "|".join([*parts, self.group] if "prompt" in together else parts)


def plan_questions(campaign: Campaign, kind: Kind, options: Options) -> CampaignPlan:
    """Return what the campaign would ask if it opened now."""
    images, decided = _undecided(list(_images(campaign, options)), campaign, kind, options)
    shown, problems = _usable(images, kind.stimuli)
    problems += decided
    chosen: list[tuple[ShownImage, ...]]
    if kind.stimuli.most == 1:
        chosen = [(image,) for image in _sample(shown, campaign.seed, options)]
        chosen.sort(key=lambda screen: keyed_hash(campaign.seed, "screens", screen[0].key))
    else:
        chosen, lacking = _together(shown, kind.stimuli, campaign.seed, options)
        problems += lacking
    return CampaignPlan(
        tasks=tuple(_task(screen, kind) for screen in chosen),
        planned_attributes=(),
        images=len({image.pk for screen in chosen for image in screen}),
        attributes=0,
        annotators_per_task=campaign.annotators_per_task,
        groups=_groups(chosen),
        problems=tuple(problems),
    )


def _images(campaign: Campaign, options: Options) -> Iterator[ShownImage]:
    """Yield the images that the options allow, whether or not they show a group."""
    rows = Image.objects.filter(study=campaign.study, condition=options.condition, retracted_at=None)
    rows = rows.exclude(file="")
    if options.model_labels is not None:
        rows = rows.filter(model_label__in=options.model_labels)
    columns = (
        "pk",
        "group_id",
        "group__name",
        "model_label",
        "prompt",
        "experiment",
        "scenario",
        "provenance",
    )
    content = ("attribute__text", "phrase__name", "sha256")
    for pk, group_id, group, model, prompt, experiment, scenario, provenance, *parts in rows.values_list(
        *columns, *content
    ):
        yield ShownImage(
            pk=pk,
            key="|".join((model, group or "", *(part or "" for part in parts))),
            group_id=group_id,
            group=group or "",
            model=model,
            prompt=prompt,
            scenario=scenario and f"{experiment}/{scenario}",
            seed="" if provenance.get("seed") is None else str(provenance["seed"]),
        )


def _undecided(
    images: list[ShownImage], campaign: Campaign, kind: Kind, options: Options
) -> tuple[list[ShownImage], list[str]]:
    """Return the images of scenarios that no earlier check has decided, and a sentence about the others.

    Only if the kind checks scenarios and the options do not ask for all of them.
    """
    if not likeness_question(kind) or options.scenarios == "all":
        return images, []
    verdicts = scenario_verdicts(campaign.study) or {}
    decided = {
        (f"{place.experiment}/{place.scenario}", place.model)
        for place, found in verdicts.items()
        if found.verdict != Likeness.OPEN
    }
    left_out = {(image.scenario, image.model) for image in images} & decided
    if not left_out:
        return images, []
    noun = "scenario was" if len(left_out) == 1 else "scenarios were"
    verb = "is" if len(left_out) == 1 else "are"
    return (
        [image for image in images if (image.scenario, image.model) not in left_out],
        [f"{len(left_out):,} {noun} decided in an earlier check and {verb} left out."],
    )


def _usable(images: list[ShownImage], stimuli: Stimuli) -> tuple[list[ShownImage], list[str]]:
    """Return the images with all data that a screen needs, and sentences about the others."""
    problems = [] if images else ["The study has no images to show."]
    needed = dict.fromkeys((*(("prompt",) if stimuli.prompt_shown else ()), *stimuli.together))
    for trait in needed:
        lacking_count = sum(not image.has(trait) for image in images)
        if lacking_count:
            has, verb = ("image has", "is") if lacking_count == 1 else ("images have", "are")
            problems.append(f"{lacking_count:,} {has} no known {trait} and {verb} left out.")
            images = [image for image in images if image.has(trait)]
    return images, problems


def _sample(images: Sequence[ShownImage], seed: int, options: Options) -> list[ShownImage]:
    """Return the number of images of each group and model that the options allow."""
    if options.images_per_group is None:
        return list(images)
    cells: dict[tuple[str, str], list[ShownImage]] = defaultdict(list)
    for image in sorted(images, key=lambda image: keyed_hash(seed, "sample", image.key)):
        cells[image.group, image.model].append(image)
    return [image for cell in cells.values() for image in cell[: options.images_per_group]]


def _together(
    images: Sequence[ShownImage], stimuli: Stimuli, seed: int, options: Options
) -> tuple[list[tuple[ShownImage, ...]], list[str]]:
    """Return the screens of several images, and a sentence about sets that have too few."""
    sets: dict[str, list[ShownImage]] = defaultdict(list)
    for image in images:
        sets[image.shared(stimuli.together)].append(image)
    by_key = {image.key: image for image in images}
    candidates = {
        name: [Candidate(image.key, _trait(image, stimuli)) for image in members]
        for name, members in sets.items()
    }
    arrangement = Arrangement(stimuli, options.combinations, seed)
    small = sorted(name for name, members in candidates.items() if not arrangement.size(members))
    chosen = [
        tuple(by_key[candidate.key] for candidate in screen) for screen in screens(candidates, arrangement)
    ]
    return chosen, _too_small({name: sets[name] for name in small}, stimuli)


def _trait(image: ShownImage, stimuli: Stimuli) -> str:
    return image.key if stimuli.differ is None else str(getattr(image, stimuli.differ))


def _too_small(sets: Mapping[str, Sequence[ShownImage]], stimuli: Stimuli) -> list[str]:
    if not sets:
        return []
    number = len(sets)
    lack = _SEVERAL[stimuli.differ].format(_NUMBERS[stimuli.least])
    verb = "is" if number == 1 else "are"
    if stimuli.together == ("prompt",):
        prompts = [members[0].prompt for members in sets.values()]
        names = ", ".join(f"“{prompt}”" for prompt in prompts[:_NAMED])
        more = f" and {number - _NAMED} more" if number > _NAMED else ""
        noun = "prompt has" if number == 1 else "prompts have"
        return [f"{number:,} {noun} no {lack} and {verb} left out: {names}{more}."]
    noun = "set of images has" if number == 1 else "sets of images have"
    same = f" with the same {' and '.join(stimuli.together)}" if stimuli.together else ""
    return [f"{number:,} {noun} no {lack}{same} and {verb} left out."]


def _task(screen: Sequence[ShownImage], kind: Kind) -> PlannedTask:
    stimuli = [PlannedStimulus(image_id=image.pk) for image in screen]
    if kind.stimuli.prompt_shown:
        stimuli.append(PlannedStimulus(text=screen[0].prompt))
    groups = {image.group_id for image in screen}
    return PlannedTask(
        group_id=groups.pop() if len(groups) == 1 else None,
        stimuli=tuple(stimuli),
        sensitive=kind.stimuli.sensitive,
        questions=sum(
            len(screen) if question.each else 1 for question in kind.questions if question.when is None
        ),
    )


def _groups(chosen: Sequence[Sequence[ShownImage]]) -> tuple[PlannedGroup, ...]:
    """Return the numbers of each group; a screen of several groups counts for each."""
    images: dict[tuple[str, int], set[int]] = defaultdict(set)
    screen_counts: dict[tuple[str, int], int] = defaultdict(int)
    for screen in chosen:
        for group in {(image.group, image.group_id) for image in screen if image.group_id is not None}:
            screen_counts[group] += 1
        for image in screen:
            if image.group_id is not None:
                images[image.group, image.group_id].add(image.pk)
    return tuple(
        PlannedGroup(
            group_id=group_id,
            name=name,
            images=len(images[name, group_id]),
            stereotypes=0,
            random_attributes=0,
            screens=screen_counts[name, group_id],
        )
        for name, group_id in sorted(images)
    )
