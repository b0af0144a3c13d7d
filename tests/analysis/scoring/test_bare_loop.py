"""MCAS, pull and CLIP scores through the commands, beside a bare open_clip loop over the same files."""

import io
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from analysis.models import Encoder, ImageEmbedding
from generation.models import Image
from studies.models import Study

pytestmark = [pytest.mark.models, pytest.mark.django_db]

EXACT = 1e-6
TOML = """
title = "Round and square"
[[prompts]]
condition = "target"
images_per_prompt = 2
templates = ["an image of {phrase}"]
[[prompts]]
condition = "attribute"
images_per_prompt = 2
templates = ["an image of {phrase}"]
[[sets]]
name = "round"
texts = ["wheel", "ball"]
phrases = ["a wheel", "a ball"]
[[sets]]
name = "square"
texts = ["box", "tile"]
phrases = ["a box"]
[targets.trades]
"Lamplighter" = { text = "a lamplighter" }
"Tiler" = { text = "a tiler" }
"""


class BareClip:
    """The model as open_clip's own documentation uses it: one file and one text at a time."""

    def __init__(self, clip: dict[str, str]) -> None:
        import open_clip

        from analysis.scoring.backends.choices import EncoderChoice
        from analysis.scoring.backends.encoders import _locate_files

        # Registers the architecture that the JSON file describes.
        files = _locate_files(EncoderChoice(clip["model_id"], clip["pretrained"]))
        self._model, _, self._transform = open_clip.create_model_and_transforms(
            files.name, pretrained=clip["pretrained"]
        )
        self._model.eval()
        self._tokenizer = open_clip.get_tokenizer(files.name)
        self.scale = float(self._model.logit_scale.detach().exp())

    def image(self, image: Image) -> np.ndarray:
        import torch
        from django.conf import settings
        from PIL import Image as Picture

        with Picture.open(Path(settings.MEDIA_ROOT) / image.file) as picture, torch.no_grad():
            tensor = self._transform(picture.convert("RGB"))[None]
            return self._direction(self._model.encode_image(tensor))

    def text(self, text: str) -> np.ndarray:
        import torch

        with torch.no_grad():
            return self._direction(self._model.encode_text(self._tokenizer([text])))

    @staticmethod
    def _direction(vector) -> np.ndarray:
        numbers = vector[0].double().numpy()
        return numbers / np.linalg.norm(numbers)


def command(name: str, *arguments: str) -> None:
    call_command(name, *arguments, stdout=io.StringIO(), stderr=io.StringIO())


def score(study: str, scorer: str, clip: dict[str, str], *more: str) -> None:
    chosen = ("--model", clip["model_id"], "--pretrained", clip["pretrained"])
    command("score", "--study", study, "--scorer", scorer, *chosen, *more)


def analysed(study: str, table: str, folder: Path) -> pd.DataFrame:
    command("analyze", "--study", study, "--output", str(folder), "--resamples", "100")
    return pd.read_csv(folder / f"{table}.csv")


def mean_cosine(left: list[np.ndarray], right: list[np.ndarray]) -> float:
    return float(np.mean([a @ b for a, b in product(left, right)]))


def bare_mcas(study: Study, clip: BareClip, target: str) -> dict[str, float]:
    def images(**chosen):
        return [clip.image(one) for one in Image.objects.filter(study=study, **chosen)]

    shown = {name: images(phrase__attribute_set=name) for name in ("round", "square")}
    said = {"round": ["wheel", "ball"], "square": ["box", "tile"]}
    read = {name: [clip.text(text) for text in texts] for name, texts in said.items()}
    of_target = images(phrase__name=target)
    prompt = [clip.text(Image.objects.filter(study=study, phrase__name=target)[0].prompt)]
    found = {
        name: mean_cosine(stands, sets["round"]) - mean_cosine(stands, sets["square"])
        for name, stands, sets in (
            ("ii", of_target, shown),
            ("itp", prompt, shown),
            ("ita", of_target, read),
            ("tt", prompt, read),
        )
    }
    return found | {"mcas": sum(found.values())}


@pytest.fixture
def shapes(tmp_path, lead):
    prompts = tmp_path / "shapes.toml"
    prompts.write_text(TOML)
    arguments = ("--study", "Shapes", "--create", "--prompt-set", str(prompts), "--by", lead.username)
    command("generate", *arguments, "--backend", "sketch")
    return Study.objects.get(name="Shapes")


def deviation(table: pd.DataFrame, study: Study, clip: BareClip) -> float:
    """By how much any component of any target is off."""
    found = []
    for row in table.to_dict("records"):
        expected = bare_mcas(study, clip, row["target"])
        found += [abs(row[name] - value) for name, value in expected.items()]
    assert len(found) == 2 * 5
    return max(found)


def test_mcas_from_generate_score_analyze_is_that_of_a_bare_loop(shapes, clip, tmp_path):
    score("Shapes", "mcas", clip)
    table = analysed("Shapes", "mcas", tmp_path / "results")
    assert deviation(table, shapes, BareClip(clip)) < EXACT


def test_float16_vectors_are_rounded_and_named_in_the_table(shapes, clip, tmp_path):
    score("Shapes", "mcas", clip, "--param", "vectors=float16")
    table = analysed("Shapes", "mcas", tmp_path / "results")
    assert EXACT < deviation(table, shapes, BareClip(clip)) < 1e-3
    assert set(table["encoder"]) == {"tiny-clip · tiny-clip · float16 vectors"}
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["automated"]["rounded"] == ["MCAS tiny-clip tiny-clip, float16 vectors"]
    assert "vectors rounded to float16" in (tmp_path / "results" / "report.html").read_text()
    # Beside them, the same encoder keeps what it computed.
    score("Shapes", "mcas", clip)
    assert sorted(Encoder.objects.values_list("vector_type", flat=True)) == ["float16", "float32"]
    sizes = {len(bytes(one.vector)): one.encoder.vector_type for one in ImageEmbedding.objects.all()}
    assert sizes == {32: "float16", 64: "float32"}


def test_pull_from_generate_score_analyze_is_that_of_a_bare_loop(study, lead, clip, tmp_path):
    from generation.prompts.creation import set_prompts

    for condition, template in (
        ("default", "a photo of {a_an} {id} person"),
        ("stereotypical", "a photo of {a_an} {id} person, {attr}"),
        ("non_stereotypical", "a photo of {a_an} {id} person, {attr}"),
    ):
        set_prompts(study=study, templates=[template], images_per_prompt=2, by=lead, condition=condition)
    command("generate", "--study", "Isles", "--backend", "sketch")
    score("Isles", "pull", clip)
    bare = BareClip(clip)
    for row in analysed("Isles", "pull", tmp_path / "results").to_dict("records"):
        mine = Image.objects.filter(study=study, group__name=row["identity_group"])
        default = [bare.image(one) for one in mine.filter(condition="default")]
        similarity = {}
        for condition in ("stereotypical", "non_stereotypical"):
            chosen = mine.filter(condition=condition)
            sets = [
                [bare.image(one) for one in chosen.filter(attribute=attribute)]
                for attribute in chosen.values_list("attribute", flat=True).distinct()
            ]
            similarity[condition] = float(np.mean([mean_cosine(default, one) for one in sets]))
        assert row["s_d_s"] == pytest.approx(similarity["stereotypical"], abs=EXACT)
        assert row["s_d_ns"] == pytest.approx(similarity["non_stereotypical"], abs=EXACT)
        expected = similarity["stereotypical"] - similarity["non_stereotypical"]
        assert row["pull"] == pytest.approx(expected, abs=EXACT)


def test_clip_scores_after_generate_and_score_are_those_of_a_bare_loop(study, lead, clip):
    from analysis.scoring.score_tables import attribute_scores
    from generation.prompts.creation import set_prompts

    set_prompts(study=study, templates=["a photo of {a_an} {id} person"], images_per_prompt=2, by=lead)
    command("generate", "--study", "Isles", "--backend", "sketch")
    score("Isles", "clip", clip)
    bare, table = BareClip(clip), attribute_scores(study)
    assert len(table) == 4 * 3
    contrast = bare.text("a photo of a person")
    for row in table.to_dict("records"):
        image = bare.image(Image.objects.get(public_id=row["public_id"]))
        cosine = image @ bare.text(f"a photo of a person, {row['attribute']}")
        probability = 1 / (1 + np.exp(-bare.scale * (cosine - image @ contrast)))
        assert row["cosine"] == pytest.approx(cosine, abs=EXACT)
        assert row["probability"] == pytest.approx(probability, abs=EXACT)
