"""Measures as a library: all on the released ViSAGe annotations, and α, L and θ on ten million judgements.

Processor time of one core, and the memory of the whole process with the data in it. The files are read from
`STEREOSCOPE_SHARED_DATA`, by default `../shared/data`. The tables are prepared and saved first; the
measuring process only reads them, so its memory is that of the measures.
"""

import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd

from analysis.metrics import (
    annotator_statistics,
    box_agreement,
    compare_annotator_groups,
    consensus,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    likelihood,
    observed_agreement,
    offensiveness,
    pigeonhole_bootstrap,
    sensitivity,
    tendency,
    visual_attributes,
)
from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[2]
RESAMPLES = 2_000
SCOPES = ("all", "identity_group", "attribute")
NONE = "none of the above"
LARGE = 10_000_000
LARGE_RESAMPLES = 1_000
LEAST_RATIO = 40.0
MOST_GROWTH = 2.1  # of the time, for twice the judgements: doubled, plus the uncertainty of the clock
CLAIMS = {
    # benchmark: description, seconds of processor time, MiB of the whole process
    "screens": ("every measure, released ViSAGe, 2,000 resamples", 10.0, 600.0),
    "people": (
        "the same with 300 people, Dawid–Skene, MACE, groups of annotators",
        30.0,
        1_024.0,
    ),
    "alpha": ("α of 10 million judgements in memory", 2.0, 1_024.0),
    "shuffled": ("the same in random order", 2.0, 1_024.0),
    "large": ("likelihood, θ and α of 10 million judgements, 1,000 resamples", 60.0, 4_096.0),
}


def run() -> Iterable[Row]:
    data = Path(os.environ.get("STEREOSCOPE_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if (data / "visage").is_dir():
        with tempfile.TemporaryDirectory() as folder:
            prepare(data, Path(folder))
            for kind in ("screens", "people"):
                yield from _rows(kind, _measured(kind, folder))
    else:
        for kind in ("screens", "people"):
            yield Row(CLAIMS[kind][0], "no data", f"{CLAIMS[kind][1]:.0f} s", None)
    for kind in ("alpha", "shuffled"):
        yield from _rows(kind, _measured(kind, str(LARGE)))
    ratio = _measured("package", "-")["ratio"]
    yield Row(
        "α, how many times faster than the krippendorff package (500 × 200,000)",
        f"{ratio:.0f}",
        f"≥ {LEAST_RATIO:.0f}",
        ratio >= LEAST_RATIO,
    )
    # The faster of two runs each, because other work on the machine only adds time.
    whole, half = (
        min((_measured("large", str(number)) for _ in range(2)), key=lambda used: used["seconds"])
        for number in (LARGE, LARGE // 2)
    )
    yield from _rows("large", whole)
    growth = whole["seconds"] / half["seconds"]
    yield Row(
        "… the time for them, over that for half as many",
        f"{growth:.2f}",
        f"≤ {MOST_GROWTH}",
        growth <= MOST_GROWTH,
    )


def _measured(*arguments: str) -> dict[str, float]:
    """Run this module in a separate process on one core, and read its measurements."""
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    printed = subprocess.run(
        [sys.executable, "-m", "benchmarks.analysis.metrics_speed", *arguments],
        cwd=ROOT,
        env=os.environ | one_core,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    used: dict[str, float] = json.loads(printed)
    return used


def _rows(kind: str, used: dict[str, float]) -> Iterable[Row]:
    claim, seconds, mebibytes = CLAIMS[kind]
    yield Row(
        f"{claim}: processor time",
        f"{used['seconds']:.2f} s",
        f"≤ {seconds:.0f} s",
        used["seconds"] <= seconds,
    )
    yield Row(
        f"{claim}: memory",
        f"{used['mebibytes']:.0f} MiB",
        f"≤ {mebibytes:.0f} MiB",
        used["mebibytes"] <= mebibytes,
    )


def prepare(data: Path, folder: Path) -> None:
    """Save the released files as the tables that the measures take."""
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
    listed = (seegull["region_stereo"] >= 2) | (seegull["NA_stereo"] >= 2)
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
        # 300 invented people instead of the screens, so that images and annotators are both resampled
        annotator = np.random.default_rng(0).permutation(len(judgements)) % 300
        judgements = judgements.assign(annotator=annotator).drop_duplicates(
            ["image", "attribute", "annotator"]
        )
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
    if kind == "screens":
        annotator_statistics(judgements, skills=False)
        sensitivity(judgements, associations, none_rows=none)
        return
    people = pd.DataFrame({"annotator": np.arange(300), "group": np.arange(300) % 4})
    skilled = annotator_statistics(shared.judgements, skills=True)
    assert skilled.table["mace"].notna().all()
    compare_annotator_groups(judgements, associations, people, by="both", resamples=RESAMPLES)
    sensitivity(judgements, associations, none_rows=none, annotator_groups=people.assign(field="part"))


def invented(judgements: int, *, shuffled: bool = False) -> pd.DataFrame:
    """Return judgements of 100 groups by 500 people: as many images as necessary, 10 attributes each, 5 answers."""
    generator = np.random.default_rng(0)
    groups, attributes, per_task, people = 100, 10, 5, 500
    images = judgements // (attributes * per_task)
    judgements_per_image = attributes * per_task
    frame = pd.DataFrame(
        {
            "image": np.repeat(np.arange(images, dtype=np.int32), judgements_per_image),
            "identity_group": np.repeat(
                (np.arange(images) // (images // groups)).astype(np.int32), judgements_per_image
            ),
            "attribute": np.tile(np.repeat(np.arange(attributes, dtype=np.int32), per_task), images),
            "annotator": np.repeat(
                generator.integers(0, people, images).astype(np.int32), judgements_per_image
            ),
        }
    )
    frame["annotator"] += np.tile(np.arange(per_task, dtype=np.int32), images * attributes)
    frame["annotator"] %= people
    present = np.empty(judgements, dtype=np.int32)
    for begin in range(0, judgements, 1_000_000):
        part = slice(begin, begin + 1_000_000)
        chance = np.where(frame["attribute"].to_numpy()[part] < attributes // 2, 0.2, 0.1)
        present[part] = generator.random(len(chance)) < chance
    frame["present"] = present
    if shuffled:
        order = generator.permutation(judgements)
        for name in frame:
            frame[name] = frame[name].to_numpy()[order]
    return frame


def measure_large(frame: pd.DataFrame) -> None:
    pairs = pd.MultiIndex.from_product([range(100), range(5)], names=["identity_group", "attribute"])
    roles = pairs.to_frame(index=False).assign(role="stereotype")
    shared = pigeonhole_bootstrap(frame, resamples=LARGE_RESAMPLES, seed=0)
    likelihood(frame, roles, resampling=shared)
    tendency(frame, roles, resampling=shared)
    krippendorff_alpha(frame, resampling=shared)


def times_faster() -> float:
    """Return the processor time of the krippendorff package divided by ours, for the same answers.

    The package gets reliability data of 500 annotators × 200,000 units with three answers each as in ViSAGe; ours
    gets the answers as integers.
    """
    people, images, attributes, per_unit = 500, 20_000, 10, 3
    units = images * attributes
    generator = np.random.default_rng(0)
    who = (generator.integers(0, people, units)[:, None] + np.arange(per_unit)) % people
    answer = generator.random((units, per_unit)) < 0.2
    reliability = np.full((people, units), np.nan)
    reliability[who, np.arange(units)[:, None]] = answer
    frame = pd.DataFrame(
        {
            "image": np.repeat(np.arange(images), attributes * per_unit),
            "identity_group": 0,
            "attribute": np.tile(np.repeat(np.arange(attributes), per_unit), images),
            "annotator": who.ravel(),
            "present": answer.ravel().astype(int),
        }
    )
    our_seconds, their_seconds = [], []
    for _ in range(3):
        started = time.process_time()
        value = krippendorff_alpha(frame, resamples=0).rows()[0]["value"]
        our_seconds.append(time.process_time() - started)
        started = time.process_time()
        expected = krippendorff.alpha(reliability_data=reliability, level_of_measurement="nominal")
        their_seconds.append(time.process_time() - started)
    assert abs(value - expected) < 1e-12
    return statistics.median(their_seconds) / statistics.median(our_seconds)


def main(kind: str, argument: str) -> dict[str, float]:
    if kind == "package":
        return {"ratio": times_faster()}
    if kind in ("screens", "people"):
        importlib.import_module("scipy.stats")  # which the measures import when they first need it
        started = time.process_time()
        measure_visage(Path(argument), kind)
    else:
        frame = invented(int(argument), shuffled=kind == "shuffled")
        started = time.process_time()
        if kind == "large":
            measure_large(frame)
        else:
            krippendorff_alpha(frame, resamples=0)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 1024**2
    )
    return {"seconds": seconds, "mebibytes": peak}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
