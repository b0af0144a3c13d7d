"""Factories of database rows as people and scorers write them: invented answers, scores, captions and vectors."""

import hashlib
from datetime import timedelta

import numpy as np
from django.utils import timezone

from accounts.models import Annotator
from analysis.models import (
    AttributeScore,
    Caption,
    Encoder,
    ImageEmbedding,
    ScoredImage,
    Scorer,
    TextEmbedding,
)
from analysis.scoring.vectors import packed, text_key, unpacked
from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    Enrolment,
    Judgement,
    Task,
    TaskAttribute,
)
from catalog.models import Attribute
from generation.models import Image, Phrase
from studies.models import Study
from studies.protocol.freeze import freeze

ASKED = {
    "Velmari": ["tall hat", "blue scarf", "drum", "umbrella"],
    "Orsani": ["round glasses", "drum", "lantern", "blue scarf"],
}
SETS = {"loud": ["drum", "trumpet"], "quiet": ["pillow", "moss"]}
TARGETS = {"birds": ["owl", "wren", "heron"], "trees": ["oak", "birch"]}
DIM = 8


def image(study: Study, name: str, **given) -> Image:
    """An image with a file of that name."""
    sha256 = hashlib.sha256(f"{study.slug} {name}".encode()).hexdigest()
    given = {"model_label": "sketch", "width": 64, "height": 64} | given
    return Image.objects.create(study=study, sha256=sha256, file=f"images/{name}.webp", **given)


def judge(study: Study, lead, *, images: int = 12, seed: int = 3) -> Campaign:
    """Three people judge default images of both groups; stereotypes are marked more often."""
    freeze(study=study, by=lead)
    drawn = np.random.default_rng(seed)
    people = [Annotator.objects.create(source=study.slug, source_id=f"judge {name}") for name in "pqr"]
    now = timezone.now()
    campaign = Campaign.objects.create(
        study=study, slug="marks", name="Marks", kind="stereotype_marking",
        state=Campaign.State.CLOSED, seed=1, opened_at=now, closed_at=now,
    )  # fmt: skip
    Enrolment.objects.bulk_create(Enrolment(campaign=campaign, annotator=person) for person in people)
    for group in study.groups.order_by("name"):
        attributes = [Attribute.objects.get_or_create(text=text)[0] for text in ASKED[group.name]]
        for number in range(images):
            picture = image(study, f"{group.name} {number}", group=group)
            truth = drawn.random(4) < (0.6, 0.5, 0.3, 0.2)
            task = Task.objects.create(campaign=campaign, image=picture, held=3)
            TaskAttribute.objects.bulk_create(
                TaskAttribute(task=task, attribute=one, position=place)
                for place, one in enumerate(attributes)
            )
            for slot, person in enumerate(people):
                said = truth ^ (drawn.random(4) < 0.1)
                leased = Assignment.objects.create(
                    task=task, annotator=person, slot=slot, state=Assignment.State.SUBMITTED,
                    expires_at=now + timedelta(minutes=30), ended_at=now,
                )  # fmt: skip
                given = Annotation.objects.create(
                    campaign=campaign, task=task, annotator=person, assignment=leased,
                    none_of_the_above=not said.any(), active_seconds=10.0,
                )  # fmt: skip
                Judgement.objects.bulk_create(
                    Judgement(annotation=given, attribute=one, present=bool(tick))
                    for one, tick in zip(attributes, said, strict=True)
                )
    return campaign


def encoder() -> Encoder:
    return Encoder.objects.get_or_create(
        architecture="tiny", pretrained="folder", revision="sha256:1", dim=DIM
    )[0]


def another_encoder(study: Study, kind: str) -> Encoder:
    """Add a second encoder of the same name but another revision: its image vectors are negated."""
    first = encoder()
    other = Encoder.objects.create(
        architecture=first.architecture, pretrained=first.pretrained, revision="sha256:2", dim=DIM
    )
    ImageEmbedding.objects.bulk_create(
        ImageEmbedding(encoder=other, sha256=one.sha256, vector=packed(-unpacked([one.vector], DIM))[0])
        for one in first.image_embeddings.all()
    )
    TextEmbedding.objects.bulk_create(
        TextEmbedding(encoder=other, text_sha256=one.text_sha256, text=one.text, vector=one.vector)
        for one in first.text_embeddings.all()
    )
    using = scorer(study, kind, f"{kind} by another", encoder=other)
    done(using, study.images.all())
    return other


def scorer(study: Study, kind: str, label: str, **given) -> Scorer:
    return Scorer.objects.create(
        study=study, kind=kind, model_id=label, model_label=label, configuration=label, **given
    )


def score(study: Study, *, seed: int = 5, label: str = "CLIP tiny") -> Scorer:
    """Add CLIP scores of every default image and attribute, higher where more people marked it."""
    drawn = np.random.default_rng(seed)
    by = scorer(study, "clip", label, encoder=encoder())
    marked = {
        (row[0], row[1]): row[2]
        for row in Judgement.objects.filter(annotation__campaign__study=study, present=True).values_list(
            "annotation__task__image", "attribute", "annotation__task__held"
        )
    }
    texts = sorted({text for asked in ASKED.values() for text in asked})
    attributes = list(Attribute.objects.filter(text__in=texts).order_by("text"))
    pictures = list(study.images.filter(condition="default").order_by("pk"))
    AttributeScore.objects.bulk_create(
        AttributeScore(
            scorer=by, image=picture, attribute=one, cosine=0.2,
            probability=float(np.clip(drawn.normal(0.65 if (picture.pk, one.pk) in marked else 0.35, 0.15), 0, 1)),
        )
        for picture in pictures
        for one in attributes
    )  # fmt: skip
    done(by, pictures)
    return by


def describe(study: Study, *, label: str = "BLIP tiny") -> Scorer:
    """Captions of every default image: those of one people speak of hats, of the other of glasses."""
    by = scorer(study, "captions", label)
    pictures = list(study.images.filter(condition="default").order_by("pk"))
    said = {
        "Velmari": ["a person with tall hats", "somebody <b>smiles</b>", "a tall-hat and a blue scarf"],
        "Orsani": ["round glasses on a table", "a person with a drum", "two drums"],
    }
    Caption.objects.bulk_create(
        Caption(scorer=by, image=picture, position=place, text=text)
        for picture in pictures
        for place, text in enumerate(said.get(picture.group.name, ["an umbrella"]))
    )
    done(by, pictures)
    return by


def done(by: Scorer, pictures) -> None:
    ScoredImage.objects.bulk_create(
        ScoredImage(scorer=by, image=picture, outcome="done") for picture in pictures
    )


def embed(by: Encoder, pictures, vectors) -> None:
    ImageEmbedding.objects.bulk_create(
        ImageEmbedding(encoder=by, sha256=picture.sha256, vector=vector)
        for picture, vector in zip(pictures, packed(np.asarray(vectors)), strict=True)
    )


def draw_near(study: Study, *, seed: int = 9, each: int = 4) -> Scorer:
    """Images of pull's three conditions, whose vectors lean towards the stereotypical ones."""
    drawn = np.random.default_rng(seed)
    by = encoder()
    made, vectors = [], []
    for number, group in enumerate(study.groups.order_by("name")):
        pictures = list(study.images.filter(group=group, condition="default").order_by("pk"))
        for condition, texts in (
            ("stereotypical", ASKED[group.name][:2]),
            ("non_stereotypical", ["kite", "moss"]),
        ):
            for text in texts:
                attribute, _ = Attribute.objects.get_or_create(text=text)
                pictures += [
                    image(
                        study, f"{group.name} {condition} {text} {n}", group=group, condition=condition,
                        attribute=attribute,
                    )
                    for n in range(each)
                ]  # fmt: skip
        for picture in pictures:
            centre = np.zeros(DIM)
            centre[number % 5] = 1.0
            centre[5] = {"default": 0.4, "stereotypical": 0.8}.get(picture.condition, -0.4)
            vectors.append(centre + drawn.normal(0, 0.2, DIM))
        made += pictures
    embed(by, made, vectors)
    using = scorer(study, "pull", "pull by tiny", encoder=by)
    done(using, made)
    return using


def associate(study: Study, *, models=("sketch",), seed: int = 11, each: int = 3) -> Scorer:
    """A study of phrases: images of targets and of two attribute sets, with vectors of images and texts."""
    study.protocol = Study.Protocol.MCAS
    study.parameters = {"mcas": {"sets": [{"name": name, "texts": texts} for name, texts in SETS.items()]}}
    study.save()
    drawn = np.random.default_rng(seed)
    by = encoder()
    lean = {"loud": 0.7, "quiet": -0.7, "owl": -0.4, "wren": 0.5}
    made, vectors, texts = [], [], {}

    def vector(name: str):
        centre = np.full(DIM, 0.3)
        centre[0] = lean.get(name, 0.0)
        return centre + drawn.normal(0, 0.1, DIM)

    def phrase(name: str, of: str, **given) -> None:
        one = Phrase.objects.create(study=study, name=name, text=f"a {name}", **given)
        prompt = f"an image of a {name}"
        if given["condition"] == "target":
            texts[prompt] = vector(of)
        for model in models:
            for number in range(each):
                made.append(
                    image(
                        study, f"{model} {given['condition']} {name} {number}", model_label=model, phrase=one,
                        condition=given["condition"], prompt=prompt,
                    )
                )  # fmt: skip
                vectors.append(vector(of))

    for name, words in SETS.items():
        texts |= {word: vector(name) for word in words}
        for word in words:
            phrase(word, name, condition="attribute", attribute_set=name)
    for category, names in TARGETS.items():
        for name in names:
            phrase(name, name, condition="target", category=category)
    embed(by, made, vectors)
    TextEmbedding.objects.bulk_create(
        TextEmbedding(encoder=by, text=text, text_sha256=text_key(text), vector=stored)
        for text, stored in zip(texts, packed(np.array(list(texts.values()))), strict=True)
    )
    using = scorer(study, "mcas", "MCAS by tiny", encoder=by)
    done(using, made)
    return using


def associate_more(study: Study) -> None:
    """One more image of a target, seen by the same scorer."""
    target = study.phrases.get(name="owl")
    one = image(study, "another owl", phrase=target, condition="target", prompt="an image of a owl")
    embed(encoder(), [one], [np.full(DIM, 0.3)])
    done(study.scorers.get(kind="mcas"), [one])
