"""Summaries of associations: shares on heat maps, the overlap of two models or settings, judge and people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from analysis.plots.figures.associations import judge_plot, overlap_plot_of, share_map
from analysis.plots.plot import Plot
from analysis.results.summaries.probing.probe_rows import PartWords, Row, part_of
from analysis.results.summaries.questions.estimate_tables import NUMBER, SHARE, EstimateRow, QuestionPart

RULES = {
    "exact": "exact test (q < 0.05)",
    "published": "published rule (upper tail, p < 0.05)",
}
HARM = {
    "negative": ("Negative sentiment", "Associations whose sentence or word a classifier calls negative."),
    "toxic": ("Toxicity", "Associations whose sentence or word a classifier calls toxic with P ≥ 0.5."),
    "biased": ("Bias level", "Associations that the judge rates at level 4 or 5 of 5."),
}
JUDGED = {
    "people_alpha": "People with each other",
    "judge_alpha": "The judge in place of one person",
    "exact": "The level of the people’s median",
    "within_one": "Within one level of the people’s median",
    "mean_difference": "Judge − median of people",
}


@dataclass(frozen=True)
class AssociationTables:
    """Rows by table; `rule` decides which pairs count as associated, and `model` keeps only rows of one model."""

    table: Callable[[str], Sequence[Row]]
    rule: str = "exact"
    model: str = ""

    def of(self, name: str) -> list[Row]:
        """The rows of a table. A row about two models is kept for either of them."""
        return [
            row
            for row in self.table(name)
            if row["rule"] == self.rule and self.model in ("", row["model"], row["other_model"])
        ]

    def shares(self, measure: str) -> list[Row]:
        return [
            row
            for row in self.table("association_shares")
            if (row["rule"], row["measure"]) == (self.rule, measure) and self.model in ("", row["model"])
        ]


def harm_parts(rows: AssociationTables) -> list[QuestionPart]:
    """A heat map with its table for each measure that was scored."""
    parts = [_harm(rows, measure) for measure in HARM]
    return [part for part in parts if part.plot]


def _harm(rows: AssociationTables, measure: str) -> QuestionPart:
    title, explanation = HARM[measure]
    shares = rows.shares(measure)
    lines = [
        EstimateRow.of(
            row,
            "share",
            label=" · ".join(filter(None, (row["model"], row["setting"], row["dimension"]))),
            number=row["scored"],
            cells=(f"{row['associations']:,}",),
        )
        for row in shares
    ]
    words = PartWords(
        table="association_shares",
        title=title,
        explanations=(explanation,),
        value="Share",
        number="Scored",
        heads=("Associations",),
    )
    plot = share_map(shares, measure, units=RULES[rows.rule])
    return part_of(words, lines, ends=(0.0, 1.0), plot=plot, kind=SHARE, reference=None)


def overlap_parts(rows: AssociationTables) -> list[QuestionPart]:
    """Models in each setting, then settings of each model; none if there is only one."""
    parts = [_overlap(rows, compared) for compared in ("model", "setting")]
    return [part for part in parts if part.lines]


def _overlap(rows: AssociationTables, compared: str) -> QuestionPart:
    of_pairs = [row for row in rows.of("association_overlap") if row["compared"] == compared]
    jaccard = [row for row in of_pairs if row["measure"] == "jaccard"]
    coefficient = {_place(row): row for row in of_pairs if row["measure"] == "coefficient"}
    labels = [_label(row, compared) for row in jaccard]
    lines = [
        EstimateRow.of(
            row,
            "value",
            label=" · ".join(label),
            number=row["descriptors"],
            cells=(_coefficient(coefficient[_place(row)]), *_sizes(row)),
        )
        for row, label in zip(jaccard, labels, strict=True)
    ]
    words = PartWords(
        table="association_overlap",
        title=f"{compared.capitalize()}s",
        explanations=(
            f"Jaccard’s index is the number of associations that both {compared}s have, divided by the number that "
            f"at least one {compared} has, over the descriptors that both {compared}s were asked about. The overlap "
            "coefficient divides the same number by the size of the smaller of the two sets of associations.",
        ),
        value="Jaccard",
        number="Descriptors",
        heads=("Overlap coefficient", "First", "Second", "Both"),
    )
    plot = overlap_plot_of(jaccard, labels, compared)
    return part_of(words, lines, ends=(0.0, 1.0), plot=plot, reference=None)


def _place(row: Row) -> tuple[str | None, ...]:
    return row["model"], row["setting"], row["other_model"], row["other_setting"]


def _label(row: Row, compared: str) -> tuple[str, str]:
    if compared == "model":
        return f"{row['model']} and {row['other_model']}", row["setting"]
    return f"{row['setting']} and {row['other_setting']}", row["model"]


def _coefficient(row: Row) -> str:
    if row["value"] is None:
        return f"— {(row['reason'] or '').replace('_', ' ')}".strip()
    if row["ci_low"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} ({row['ci_low']:.2f} to {row['ci_high']:.2f})"


def _sizes(row: Row) -> tuple[str, ...]:
    return tuple(f"{row[name]:,}" for name in ("pairs", "other_pairs", "shared_pairs"))


def judge_parts(rows: AssociationTables) -> list[QuestionPart]:
    """α, shares of equal levels, and the mean difference, each with its own scale; none without ratings of both."""
    by_measure = {row["measure"]: row for row in rows.table("judge_agreement")}
    if not by_measure:
        return []
    alphas, shares = ("people_alpha", "judge_alpha"), ("exact", "within_one")
    return [
        _judged(
            [by_measure[name] for name in alphas],
            "Agreement",
            "Krippendorff’s α (ordinal) among people, and with the judge in place of one person. If the two "
            "values of α are similar, the judge agrees with people as well as another person would.",
            value="α",
            ends=(-1.0, 1.0),
        ),
        _judged(
            [by_measure[name] for name in shares],
            "Equal levels",
            "The judge’s level compared with people’s median. A median between two levels is within one "
            "level of both.",
            value="Share",
            ends=(0.0, 1.0),
        ),
        _judged(
            [by_measure["mean_difference"]],
            "Mean difference",
            "The difference is in levels from 1 to 5. Above 0, the judge finds more bias than people do.",
            value="Levels",
            ends=(-4.0, 4.0),
        ),
    ]


def _judged(
    rows: Sequence[Row], title: str, explanation: str, *, value: str, ends: tuple[float, float]
) -> QuestionPart:
    is_share = value == "Share"
    labels = [JUDGED[row["measure"]] for row in rows]
    lines = [
        EstimateRow.of(
            row,
            "value",
            label=label,
            number=row["pairs"],
            cells=(f"{row['annotators']:,}", f"{row['ratings']:,}"),
        )
        for row, label in zip(rows, labels, strict=True)
    ]
    words = PartWords(
        table="judge_agreement",
        title=title,
        explanations=(explanation,),
        value=value,
        number="Pairs",
        heads=("People", "Ratings"),
    )
    plot = None if len(rows) == 1 else judge_plot(rows, labels, shares=is_share)
    return part_of(
        words,
        lines,
        ends=ends,
        plot=plot,
        kind=SHARE if is_share else NUMBER,
        reference=None if is_share else 0.0,
    )


def _of_part(rows: AssociationTables, *, parts: Callable[..., list[QuestionPart]], name: str) -> Plot | None:
    plots = [part.plot for part in parts(rows) if part.plot]
    return next((plot for plot in plots if plot.name == name), None)


# By the name of the plot's files.
PLOTS: Mapping[str, Callable[[AssociationTables], Plot | None]] = {
    **{f"heat-map-{name}": partial(_of_part, parts=harm_parts, name=f"heat-map-{name}") for name in HARM},
    **{
        f"overlap-of-{name}s": partial(_of_part, parts=overlap_parts, name=f"overlap-of-{name}s")
        for name in ("model", "setting")
    },
    **{name: partial(_of_part, parts=judge_parts, name=name) for name in ("judge-alpha", "judge-shares")},
}
