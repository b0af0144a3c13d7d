"""Every measure on the released ViSAGe annotations, 2,000 resamples: processor time and memory.

The files are looked for where `STEREOSCOPE_SHARED_DATA` says, else in `../shared/data`. The tables are
prepared and saved first; the measuring process only reads them, so its memory is that of the measures.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.metrics import (
    annotator_statistics,
    box_agreement,
    consensus,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    likelihood,
    observed_agreement,
    offensiveness,
    pigeonhole_bootstrap,
    tendency,
    visual_attributes,
)
from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEBIBYTES = 6.0, 400.0
RESAMPLES = 2_000
SCOPES = ("all", "identity_group", "attribute")
LARGE_SECONDS = 10.0
NONE = "none of the above"


def run() -> Iterable[Row]:
    data = Path(os.environ.get("STEREOSCOPE_SHARED_DATA", ROOT.parent / "shared" / "data"))
    claims = (
        "every measure, released ViSAGe, 2,000 resamples",
        "the same with people's ids: crossed resampling",
    )
    if not (data / "visage").is_dir():
        yield from (Row(claim, "no data", f"{SECONDS:.0f} s", None) for claim in claims)
    else:
        with tempfile.TemporaryDirectory() as folder:
            prepare(data, Path(folder))
            for claim, kind in zip(claims, ("screens", "people"), strict=True):
                yield from _measured(claim, [folder, kind], SECONDS, MEBIBYTES)
    claim = "likelihood, θ and α of 2 million invented judgements, 200 resamples"
    yield from _measured(claim, ["-", "large"], LARGE_SECONDS, None)


def _measured(claim: str, arguments: list[str], seconds: float, mebibytes: float | None) -> Iterable[Row]:
    """Run this module in a process of its own on one core, and read what it used."""
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    printed = subprocess.run(
        [sys.executable, "-m", "benchmarks.metrics_speed", *arguments],
        cwd=ROOT,
        env=os.environ | one_core,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    used = json.loads(printed)
    yield Row(
        f"{claim}: processor time", f"{used['seconds']:.2f} s", f"{seconds:.0f} s", used["seconds"] <= seconds
    )
    if mebibytes is not None:
        kept = used["mebibytes"] <= mebibytes
        yield Row(f"{claim}: memory", f"{used['mebibytes']:.0f} MiB", f"{mebibytes:.0f} MiB", kept)


def prepare(data: Path, folder: Path) -> None:
    """The released files as the tables that the measures take."""
    raw = pd.read_excel(
        data / "visage" / "Image Annotations.xlsx", sheet_name="full_set_annotations", engine="calamine"
    ).dropna(subset=["attribute"])
    name = raw["img_path"].str.rsplit("/", n=1).str[-1]
    table = pd.DataFrame(
        {
            "image": raw["img_path"],
            "identity_group": name.str.replace(r"\d*\.png$", "", regex=True),
            "attribute": raw["attribute"],
            "annotator": raw["worker_id"],
            "present": raw["present"] == "yes",
        }
    )
    for column in ("image", "identity_group", "attribute", "annotator"):
        table[column] = table[column].astype("category")
    none = table["attribute"] == NONE
    table[none].to_pickle(folder / "none.pkl")
    table[~none].to_pickle(folder / "judgements.pkl")
    drawn = raw[table["present"] & ~none]
    corners = drawn["coords"].str.extractall(r"(-?[\d.]+(?:e-?\d+)?)")[0].astype(float).unstack() / 512
    boxes = table.loc[drawn.index, ["image", "attribute", "annotator"]].assign(judgement=drawn.index)
    boxes[["x0", "y0", "x1", "y1"]] = corners.to_numpy()
    boxes.to_pickle(folder / "boxes.pkl")
    seegull = pd.read_csv(data / "seegull" / "stereotypes_global_v2.csv")
    listed = seegull["region_stereo"] + seegull["NA_stereo"] >= 2
    pd.DataFrame(
        {
            "identity_group": seegull["identity"],
            "attribute": seegull["attribute"],
            "role": np.where(listed, "stereotype", "random"),
            "offensiveness_stored": seegull["mean offensiveness_score"],
            **{f"rating_{i}": seegull[f"Annotation{i}"] for i in (1, 2, 3)},
        }
    ).to_pickle(folder / "associations.pkl")
    likert = pd.read_excel(data / "visage" / "Visual Attributes_.xlsx", engine="calamine")
    scores = ["score_asia", "score_emea", "score_na"]
    likert.melt("attribute", scores, "annotator", "rating").to_pickle(folder / "likert.pkl")


def measure_visage(folder: Path, kind: str) -> None:
    judgements, none, boxes, associations, likert = (
        pd.read_pickle(folder / f"{name}.pkl")
        for name in ("judgements", "none", "boxes", "associations", "likert")
    )
    if kind == "people":
        # 300 invented people in place of the screens, so that images and annotators are both resampled
        people = np.random.default_rng(0).permutation(len(judgements)) % 300
        judgements = judgements.assign(annotator=people).drop_duplicates(["image", "attribute", "annotator"])
    shared = pigeonhole_bootstrap(judgements, none_rows=none, resamples=RESAMPLES, seed=0)
    assert shared.annotators_resampled == (kind == "people")
    likelihood(judgements, associations, resampling=shared)
    for mode in ("ignore", "as_random"):
        tendency(judgements, associations, none_of_the_above=mode, resampling=shared)
    offensiveness(judgements, associations, resampling=shared)
    for scope in SCOPES:
        for measure in (krippendorff_alpha, gwet_ac, fleiss_kappa, observed_agreement):
            measure(judgements, by=scope, resampling=shared)
    for unsure, level in (("missing", "ordinal"), ("middle", "ordinal"), ("category", "nominal")):
        krippendorff_alpha(likert, level=level, unsure=unsure, resamples=RESAMPLES)
    consensus(likert)
    visual_attributes(likert)
    box_agreement(boxes, resamples=RESAMPLES)
    annotator_statistics(judgements, skills=False)


def measure_large() -> None:
    """100 groups of 250 images, 20 attributes, 4 answers a unit by 2,000 people."""
    generator = np.random.default_rng(0)
    groups, images, attributes, per_task, people = 100, 250, 20, 4, 2_000
    group, image, attribute, _ = (
        codes.ravel().astype(np.int32)
        for codes in np.indices((groups, images, attributes, per_task), dtype=np.int32)
    )
    first = generator.integers(0, people, groups * images).astype(np.int32)
    annotator = (first[group * images + image] + np.arange(len(group), dtype=np.int32) % per_task) % people
    judgements = pd.DataFrame(
        {
            "image": group * images + image,
            "identity_group": group,
            "attribute": attribute,
            "annotator": annotator,
            "present": generator.random(len(group)) < np.where(attribute < 10, 0.2, 0.1),
        }
    )
    pairs = pd.MultiIndex.from_product([range(groups), range(10)], names=["identity_group", "attribute"])
    roles = pairs.to_frame(index=False).assign(role="stereotype")
    shared = pigeonhole_bootstrap(judgements, resamples=200, seed=0)
    likelihood(judgements, roles, resampling=shared)
    tendency(judgements, roles, resampling=shared)
    krippendorff_alpha(judgements, resampling=shared)


if __name__ == "__main__":
    where, what = sys.argv[1:]
    started = time.process_time()
    measure_large() if what == "large" else measure_visage(Path(where), what)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 1024**2
    )
    print(json.dumps({"seconds": time.process_time() - started, "mebibytes": peak}))
