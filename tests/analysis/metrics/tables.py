"""Small tables of judgements: by hand, and drawn by hypothesis."""

from typing import Any

import pandas as pd
from hypothesis import strategies as st

ROLES = pd.DataFrame(
    [
        ("Aru", "hat", "stereotype"),
        ("Aru", "drum", "stereotype"),
        ("Aru", "boat", "random"),
        ("Bel", "boat", "stereotype"),
        ("Bel", "kite", "stereotype"),
    ],
    columns=["identity_group", "attribute", "role"],
)
COLUMNS = ["image", "identity_group", "attribute", "annotator", "present"]


def judgements(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Rows of (image, identity_group, attribute, annotator, present)."""
    return pd.DataFrame(list(rows), columns=COLUMNS)


def marks(group: str, attribute: str, shown: int, marked: int, *, images: int = 3) -> list[tuple[Any, ...]]:
    """`shown` answers about an attribute, spread over images and over annotators p0, p1, … , the first
    `marked` positive."""
    return [
        (f"{group}-{i % images}", group, attribute, f"p{i // images}", int(i < marked)) for i in range(shown)
    ]


@st.composite
def judgement_tables(draw: st.DrawFn, *, people: bool = False, models: bool = False) -> pd.DataFrame:
    """Any mix of groups, images, attributes and annotators; `people` keeps (unit, annotator) distinct."""
    row = st.tuples(
        st.integers(0, 4),
        st.sampled_from(["Aru", "Bel", "Cir"]),
        st.sampled_from(["hat", "drum", "boat", "kite"]),
        st.sampled_from(["p", "q", "r", "s"]),
        st.booleans(),
        st.sampled_from(["m1", "m2"]) if models else st.just(""),
    )
    rows = draw(st.lists(row, min_size=1, max_size=60))
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "model"])
    frame["image"] = frame["identity_group"] + frame["image"].astype(str)
    frame["present"] = frame["present"].astype(int)
    if people:
        frame = frame.drop_duplicates(["image", "attribute", "annotator", "model"], ignore_index=True)
    return frame


@st.composite
def role_tables(draw: st.DrawFn) -> pd.DataFrame:
    pairs = [(g, a) for g in ("Aru", "Bel", "Cir") for a in ("hat", "drum", "boat", "kite")]
    chosen = draw(
        st.lists(st.sampled_from(["stereotype", "random", None]), min_size=len(pairs), max_size=len(pairs))
    )
    rows = [(g, a, role) for (g, a), role in zip(pairs, chosen, strict=True) if role]
    return pd.DataFrame(rows, columns=["identity_group", "attribute", "role"], dtype=object)


def value_counts(categories: int, *, most: int = 5) -> st.SearchStrategy[list[list[int]]]:
    """Units × categories counts, missing and single ratings among them."""
    return st.lists(
        st.lists(st.integers(0, most), min_size=categories, max_size=categories), min_size=1, max_size=12
    )
