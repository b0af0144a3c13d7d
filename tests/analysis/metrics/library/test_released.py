"""The released ViSAGe annotations, beside plain pandas."""

from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.metrics import (
    annotator_ids_usable,
    krippendorff_alpha,
    likelihood,
    pigeonhole_bootstrap,
    tendency,
)
from benchmarks.analysis.metrics_speed import prepare


@pytest.fixture(scope="module")
def released(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("visage")
    prepare(shared_data, folder)
    names = ("judgements", "none", "associations")
    tables = {name: pd.read_pickle(folder / f"{name}.pkl") for name in names}
    return {
        **tables,
        "plain": tables["judgements"].astype(str).assign(present=tables["judgements"]["present"]),
    }


def test_every_judgement_and_group_enters(released: dict[str, pd.DataFrame]) -> None:
    result = likelihood(released["judgements"], released["associations"], resamples=50)
    assert result.used == len(released["judgements"]) == 120_170 - len(released["none"])
    assert result.table["identity_group"].nunique() == 135
    plain = (
        released["plain"]
        .groupby(["identity_group", "attribute"])["present"]
        .agg(["size", "sum"])
        .reset_index()
    )
    ours = result.table[["identity_group", "attribute", "shown", "marked"]]
    merged = ours.merge(plain, on=["identity_group", "attribute"], validate="one_to_one")
    assert len(merged) == len(ours) == len(plain)
    assert (merged["shown"] == merged["size"]).all()
    assert (merged["marked"] == merged["sum"]).all()


@pytest.mark.parametrize("mode", ["ignore", "as_random"])
def test_theta_equals_plain_pandas(released: dict[str, pd.DataFrame], mode: str) -> None:
    listed = released["associations"].query("role == 'stereotype'")
    pairs = set(zip(listed["identity_group"], listed["attribute"], strict=True))
    plain = released["plain"]
    if mode == "as_random":
        plain = pd.concat([plain, released["none"].astype(str).assign(present=released["none"]["present"])])
    cells = plain.groupby(["identity_group", "attribute"])["present"].mean().reset_index()
    cells["stereotype"] = [p in pairs for p in zip(cells["identity_group"], cells["attribute"], strict=True)]
    means = cells.pivot_table(index="identity_group", columns="stereotype", values="present", aggfunc="mean")
    result = tendency(
        released["judgements"], released["associations"], none_of_the_above=mode, none_rows=released["none"],
        min_stereotypes=1, resamples=50,
    )  # fmt: skip
    table = result.table.set_index("identity_group")
    assert len(table) == 135
    defined = means[False] > 0
    expected = (means[True] / means[False])[defined]
    assert table.loc[expected.index, "theta"].to_numpy(float) == pytest.approx(expected.to_numpy())
    assert table.loc[~table.index.isin(expected.index), "theta"].isna().all()
    pooled = result.overall.set_index("statistic").loc["pooled"]
    both = means.dropna()
    assert pooled["theta"] == pytest.approx(both[True].sum() / both[False].sum())
    assert pooled["groups"] == len(both)


def test_ids_are_screens_so_images_alone_are_resampled(released: dict[str, pd.DataFrame]) -> None:
    assert annotator_ids_usable(released["judgements"]).reason == "annotator_ids_unusable"
    assert not pigeonhole_bootstrap(released["judgements"], resamples=2).annotators_resampled


def test_alpha_equals_the_package_on_all_units(released: dict[str, pd.DataFrame]) -> None:
    row = krippendorff_alpha(released["judgements"], resamples=50).rows()[0]
    units = (
        released["plain"]
        .groupby(["image", "attribute"])["present"]
        .agg(["size", "sum"])
        .to_numpy()
        .astype(int)
    )
    counts = np.stack([units[:, 0] - units[:, 1], units[:, 1]], axis=1)
    theirs = krippendorff.alpha(value_counts=counts, value_domain=[0, 1], level_of_measurement="nominal")
    assert row["value"] == pytest.approx(theirs, abs=1e-12)
    assert (row["units"], row["annotators"]) == (len(units), None)
