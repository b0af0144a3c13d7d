"""Tables of answers about parallel images: drawn with a planted association, and drawn by hypothesis."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

OUTCOMES = ("plus", "minus", "both", "refused", "other", "empty", "declined", "failed")
CODES = {"plus": 1, "minus": -1}
COLUMNS = [
    "model",
    "experiment",
    "scenario",
    "question",
    "group",
    "colour",
    "size",
    "repeat",
    "order",
    "outcome",
]
GROUPS = [(colour, size) for colour in ("blue", "red") for size in ("big", "small")]


def probe_answers(
    seed: int,
    *,
    models: tuple[str, ...] = ("m1",),
    experiments: tuple[tuple[str, int, int], ...] = (("work", 12, 1),),
    repeats: int = 3,
    orders: tuple[str, ...] = ("published", "reversed"),
    shift: float = 0.1,
    odd: float = 0.2,
    failed: float = 0.05,
) -> pd.DataFrame:
    """Scenarios differ in how often plus is chosen; blue gets `shift` more of it than red. A share `odd` of the
    answers chooses neither, a share `failed` never came."""
    generator = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for model in models:
        for experiment, scenarios, questions in experiments:
            for scenario in range(scenarios):
                chance = generator.uniform(0.2, 0.8)
                for question in range(questions):
                    for colour, size in GROUPS:
                        for repeat in range(repeats):
                            for order in orders:
                                yes = generator.random() < chance + (shift if colour == "blue" else 0)
                                outcome = "plus" if yes else "minus"
                                if generator.random() < odd:
                                    outcome = str(generator.choice(OUTCOMES[2:7]))
                                if generator.random() < failed:
                                    outcome = "failed"
                                who = (f"{colour}_{size}", colour, size)
                                rows.append(
                                    (
                                        model,
                                        experiment,
                                        f"s{scenario}",
                                        f"q{question}",
                                        *who,
                                        repeat,
                                        order,
                                        outcome,
                                    )
                                )
    return pd.DataFrame(rows, columns=COLUMNS)


@st.composite
def probe_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Any answers, missing cells and failures among them."""
    row = st.tuples(
        st.sampled_from(["m1", "m2"]),
        st.sampled_from(["work", "leisure"]),
        st.sampled_from(["s1", "s2", "s3", "s4"]),
        st.sampled_from(["q1", "q2"]),
        st.sampled_from(GROUPS),
        st.integers(0, 2),
        st.sampled_from(["published", "reversed"]),
        st.sampled_from(OUTCOMES),
    )
    rows = draw(st.lists(row, min_size=1, max_size=60))
    return pd.DataFrame(
        [
            (m, e, s, q, f"{who[0]}_{who[1]}", *who, repeat, order, o)
            for m, e, s, q, who, repeat, order, o in rows
        ],
        columns=COLUMNS,
    )
