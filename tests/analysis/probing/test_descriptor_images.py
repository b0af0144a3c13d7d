"""The whole path from descriptors to images, five kinds of description of each, and associations."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command

from catalog.imports.descriptors import import_descriptors
from catalog.models import Resource
from generation.models import Answer, GenerationRequest, Image
from generation.prompts.sets import prompt_set
from generation.runs.estimates import estimate
from studies.models import Study
from studies.protocol.descriptors import create_descriptor_study
from tests.analysis.probing.isles import DESCRIPTORS, PLANTED
from tests.analysis.scoring.tiny_models import save_llava
from tests.project.test_layout import ROOT

pytestmark = pytest.mark.django_db
PUBLISHED = ROOT.parent / "shared/data/biasdora"
SETTINGS = {"objective", "subjective", "stereotypes", "first_words", "lexical"}
SENTENCES = {
    ("elder", "Generate an image of an elder"),
    ("elder", "Generate an image of elders"),
    ("kite maker", "Generate an image of a kite maker"),
    ("kite maker", "Generate an image of kite makers"),
    ("Orsani person", "Generate an image of an Orsani person"),
    ("Orsani person", "Generate an image of Orsani people"),
}


@pytest.fixture
def resource(lead, tmp_path) -> Resource:
    path = tmp_path / "isles.csv"
    path.write_text(DESCRIPTORS, encoding="utf-8")
    return import_descriptors(files=[path], name="Isles", by=lead, invented=True).resource


def generate(*options: str) -> None:
    call_command(
        *("generate", "--study", "Pictures of the isles", "--prompt-set", "biasdora-images"),
        *("--backend", "sketch", *options),
    )


def probe(*options: str) -> None:
    call_command("probe", "--study", "Pictures of the isles", "--probe-set", "biasdora-images", *options)


def associations_of(folder: Path) -> list[dict[str, str]]:
    call_command(
        *("analyze", "--study", "Pictures of the isles", "--output", str(folder), "--resamples", "100")
    )
    with (folder / "associations.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_descriptor_is_drawn_in_both_forms_and_every_picture_described(resource, tmp_path):
    generate("--create", "--resource", "Isles")
    study = Study.objects.get(name="Pictures of the isles")
    assert study.protocol == Study.Protocol.BIASDORA
    asked = GenerationRequest.objects.values_list("group__name", "prompt")
    assert len(asked) == 5 * 2 * 10
    assert set(asked) >= SENTENCES
    assert set(Counter(asked).values()) == {10}
    probe("--backend", "script", "--param", f"associations={json.dumps(PLANTED)}")
    assert Answer.objects.count() == 100 * 5
    rows = associations_of(tmp_path / "results")
    assert {(row["setting"], row["model"], row["modality"]) for row in rows} == {
        ("objective", "sketch", "text-to-image"),
        *((setting, "script", "image-to-text") for setting in SETTINGS - {"objective"}),
    }
    for setting in SETTINGS:
        found = {
            (row["descriptor"], row["word"])
            for row in rows
            if row["setting"] == setting and row["significant_exact"] == "true"
        }
        assert found >= {(name, word) for name, words in PLANTED.items() for word in words}, setting
    assert {row["dimension"] for row in rows if row["descriptor"] == "Orsani person"} == {"island", "age"}
    generate()  # planning again adds no requests
    probe("--backend", "script", "--param", f"associations={json.dumps(PLANTED)}")
    assert (GenerationRequest.objects.count(), Answer.objects.count()) == (100, 500)


@pytest.mark.models
def test_a_real_model_describes_them(resource, tmp_path):
    """Its weights are random, so its answers are meaningless, but it answers about every picture."""
    pytest.importorskip("transformers", reason="the full requirements are not installed")
    generate("--create", "--resource", "Isles", "--limit", "3")
    probe(
        "--backend", "transformers", "--model", str(save_llava(tmp_path / "llava")), "--param", "max_tokens=4"
    )
    outcomes = Counter(Answer.objects.values_list("outcome", flat=True))
    assert outcomes == {"done": 3 * 5}
    assert Image.objects.filter(answers__question="lexical").count() == 3


def test_a_descriptor_in_the_plural_alone_takes_no_prompt_of_the_singular(resource, lead):
    group = resource.groups.get(name="elder")
    group.forms = {"plural": "elders"}
    group.save()
    study = create_descriptor_study(resource=resource, by=lead, name="Plurals")
    planned = estimate(study=study, backend="sketch", prompt_set=prompt_set("biasdora-images"))
    assert planned.images == (4 * 2 + 1) * 10


def test_the_published_descriptors_come_to_the_published_number(lead):
    files = [PUBLISHED / f"t2i_setting{number}.csv" for number in (1, 2)]
    if not files[0].exists():
        pytest.skip("the shared data has no published descriptors")
    report = import_descriptors(files=files, name="BiasDora", by=lead)
    study = create_descriptor_study(resource=report.resource, by=lead, name="Images")
    planned = estimate(study=study, backend="sketch", prompt_set=prompt_set("biasdora-images"))
    # 344 rows of each form; a descriptor in several dimensions is asked for once.
    assert report.rows == 688
    assert (planned.prompts, planned.images) == (2 * report.descriptors, 20 * report.descriptors)
