"""The notebook in the documentation draws from a release what `analyze` computes from the database."""

import io
import json
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from accounts.models import Annotator
from analysis.releases.rekey import LENGTHS, annotator_id
from studies.models import Study

pytestmark = pytest.mark.django_db
NOTEBOOK = Path(__file__).resolve().parents[3] / "docs/use/notebooks/visage.ipynb"
FIGURES = {
    "tendency_figure": "tendency",
    "likelihood_figure": "likelihood",
    "means_figure": "tendency",
    "offensiveness_figure": "offensiveness",
    "agreement_figure": "agreement",
}
ROUNDING = 1e-9


def execute(**settings) -> dict:
    """Run the cells in one namespace, with these settings in place of those that the notebook begins with."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    variables: dict = {}
    exec(sources[0], variables)
    assert settings.keys() <= variables.keys()
    variables.update(settings)
    for source in sources[1:]:
        exec(source, variables)
    return variables


def analyze(study: Study, folder: Path, *options: str) -> Path:
    call_command("analyze", "--study", study.slug, "--output", str(folder), *options, stdout=io.StringIO())
    return folder


def give_ids_of_the_study(study: Study, release, folder: Path) -> None:
    """Put the ids that `analyze` reads in place of the release's."""
    key = {"key": bytes(release.key), "version": release.version, "length": LENGTHS[0]}
    ids = {
        annotator_id(annotator.pseudonym, **key): annotator.source_id
        for annotator in Annotator.objects.filter(source=study.slug)
    }
    for table in ("judgements", "annotations", "ratings"):
        path = folder / "data" / f"{table}.parquet"
        rows = pd.read_parquet(path)
        rows.assign(annotator=rows["annotator"].map(ids)).to_parquet(path)


def differences(variables: dict) -> pd.Series:
    return pd.concat(variables["comparison"])


@pytest.mark.parametrize("mode", ["ignore", "as_random"])
def test_every_number_equals_that_of_analyze(mode, marked, released, tmp_path):
    tables = analyze(marked.study, tmp_path / "results", "--none-of-the-above", mode, "--resamples", "300")
    release, folder = released(marked.study)
    give_ids_of_the_study(marked.study, release, folder)
    variables = execute(RELEASE=folder, TABLES=tables, RESAMPLES=300, NONE_OF_THE_ABOVE=mode)
    assert set(differences(variables).index.get_level_values(0)) == set(FIGURES.values())
    assert differences(variables).max() < ROUNDING
    assert variables["frames"]["tendency"]["theta"].notna().any()
    for name in ("likelihood", "tendency", "offensiveness"):
        assert len(variables["frames"][name]) == len(pd.read_csv(tables / f"{name}.csv")), name


def test_another_seed_is_noticed(marked, released, tmp_path):
    tables = analyze(marked.study, tmp_path / "results", "--resamples", "300")
    release, folder = released(marked.study)
    give_ids_of_the_study(marked.study, release, folder)
    assert differences(execute(RELEASE=folder, TABLES=tables, RESAMPLES=300, SEED=1)).max() > ROUNDING


def test_estimates_do_not_depend_on_the_ids_of_a_release(marked, released, tmp_path):
    tables = analyze(marked.study, tmp_path / "results", "--resamples", "300")
    _, folder = released(marked.study)
    gaps = differences(execute(RELEASE=folder, TABLES=tables, RESAMPLES=300))
    drawn_anew = gaps.index.get_level_values(1).str.contains("ci_|_low|_high|resamples")
    assert gaps[~drawn_anew].max() < ROUNDING
    assert gaps["agreement"].max() < ROUNDING


def test_a_number_that_differs_is_noticed(marked, released, tmp_path):
    tables = analyze(marked.study, tmp_path / "results", "--resamples", "300")
    _, folder = released(marked.study)
    changed = pd.read_csv(tables / "likelihood.csv")
    changed.loc[0, "likelihood"] += 0.01
    changed.to_csv(tables / "likelihood.csv", index=False)
    gaps = differences(execute(RELEASE=folder, TABLES=tables, RESAMPLES=300))
    assert gaps["likelihood", "likelihood"] == pytest.approx(0.01)


def test_figures_draw_the_rows_of_the_tables(marked, released):
    _, folder = released(marked.study)
    variables = execute(RELEASE=folder, TABLES=None, RESAMPLES=300)
    assert variables["comparison"] == {}
    for name, table in FIGURES.items():
        drawn = _rows_of(variables[name])
        assert len(drawn)
        frame = variables["frames"][table].rename(columns={"scope_value": "identity_group"})
        columns = [column for column in drawn if column in frame]
        known = {tuple(row) for row in _plain(frame[columns])}
        assert {tuple(row) for row in _plain(drawn[columns])} <= known, name
        assert _fields_of(variables[name]) <= set(drawn), name
    means = _rows_of(variables["means_figure"])
    theta = means.pivot(index="identity_group", columns="attributes", values="mean")
    ratio = theta["likelihood_stereotype"] / theta["likelihood_random"]
    stated = _rows_of(variables["tendency_figure"]).set_index("identity_group")["theta"]
    np.testing.assert_allclose(ratio.sort_index().astype(float), stated.sort_index().astype(float))


def _rows_of(figure: alt.Chart | alt.LayerChart) -> pd.DataFrame:
    """The rows that a browser is given to draw."""
    described = figure.to_dict()
    return pd.DataFrame(described["datasets"][described["data"]["name"]])


def _fields_of(figure: alt.Chart | alt.LayerChart) -> set[str]:
    """The columns that its axes, colours and shapes show."""
    described = figure.to_dict()
    channels = [
        channel for layer in described.get("layer", [described]) for channel in layer["encoding"].values()
    ]
    return {channel["field"] for channel in channels if "field" in channel}


def _plain(frame: pd.DataFrame) -> list[list]:
    return json.loads(frame.to_json(orient="values", double_precision=10))


@pytest.mark.slow
def test_the_released_study_is_reproduced_to_the_last_interval(shared_data, released, tmp_path):
    """Its ids are not people's and its images have their published names: every resample is the same."""
    files = {
        "--stereotypes": shared_data / "seegull" / "stereotypes_global_v2.csv",
        "--annotations": shared_data / "visage" / "Image Annotations.xlsx",
        "--visual-attributes": shared_data / "visage" / "Visual Attributes_.xlsx",
    }
    for path in files.values():
        if not path.is_file():
            pytest.skip(f"{path} is not there")
    named = [str(part) for pair in files.items() for part in pair]
    call_command("import_visage", "--study", "released", "--output", str(tmp_path / "rejected"), *named)
    study = Study.objects.get(slug="released")
    tables = analyze(study, tmp_path / "results", "--resamples", "200", "--preset", "as-published")
    _, folder = released(study, formats=("parquet",))
    variables = execute(RELEASE=folder, TABLES=tables, RESAMPLES=200, NONE_OF_THE_ABOVE="as_random")
    assert differences(variables).max() < ROUNDING
    drawn = _rows_of(variables["tendency_figure"])
    assert len(drawn) == variables["MOST"]
    assert (drawn["theta_low"].notna() & (drawn["theta_low"] <= drawn["theta"])).sum() > len(drawn) / 2
    pooled = variables["theta"].overall.set_index("statistic").loc["pooled", "theta"]
    assert pooled == pytest.approx(3.193, abs=5e-4)  # Jha et al. (2024), abstract: "thrice as likely"
