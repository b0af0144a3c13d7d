"""The table of words that models associate with descriptors, from the current results, one page at a time.

It is called `word_associations`, because `associations` are the pairs that a resource lists. People's ratings are in
the tables of their answers, if they are released.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.releases.contents import Column
from analysis.results.reports import current_report
from generation.models import ProbeRun
from generation.probing.probe_sets import ProbeSet
from studies.models import Study

TABLE = "word_associations"
DESCRIPTION = (
    "one row per model, setting, dimension, descriptor and word that the model answered, "
    "with two significance tests"
)
_STORED = "associations"
_ROWS_AT_ONCE = 10_000
_MODALITIES = {
    "text-to-text": "a sentence that the model completed",
    "text-to-image": "an objective description of an image that the model generated",
    "image-to-text": "a description that the model wrote",
}
_SENTIMENTS = {name: name for name in ("negative", "neutral", "positive")}
_COLUMNS = (
    Column("model", "string", "name of the model, as in the results"),
    Column(
        "modality",
        "string",
        "text that the model was asked for and that the word was taken from",
        values=_MODALITIES,
    ),
    Column(
        "setting", "string", "form of the question, such as plural; answers to one form are counted together"
    ),
    Column("dimension", "string", "dimension of the descriptor, such as age; empty if it has none", True),
    Column("descriptor", "string", "identity group that the model was asked about"),
    Column("word", "string", "word that the model answered, in lower case", exact=True),
    Column("tf", "integer", "number of times that the model answered the word to the descriptor"),
    Column("df", "integer", "number of documents (lists of answers to one descriptor) that contain the word"),
    Column("documents", "integer", "number of documents in the setting, as used in the logarithm of tfidf"),
    Column("tfidf", "number", "tf × ln(documents ÷ df)"),
    Column(
        "z",
        "number",
        "distance of tfidf from its mean for the model and setting, in standard deviations",
        True,
    ),
    Column("p", "number", "probability of at least z under a normal distribution", True),
    Column(
        "significant",
        "boolean",
        "whether the association is significant by the published rule: p below 0.05",
        True,
    ),
    Column(
        "p_exact",
        "number",
        "probability of at least tf occurrences if the words were assigned to descriptors at random",
        True,
    ),
    Column(
        "q_exact",
        "number",
        "p_exact adjusted for the number of pairs of the model and setting; empty if not tested",
        True,
    ),
    Column(
        "q_all_pairs",
        "number",
        "p_exact adjusted for the number of all combinations of descriptor and word of the model and setting",
        True,
    ),
    Column(
        "significant_exact",
        "boolean",
        "whether the association is significant by the exact test: q_all_pairs below 0.05",
        True,
    ),
    Column(
        "sentiment",
        "string",
        "sentiment of the text according to a classifier; empty if not scored",
        True,
        values=_SENTIMENTS,
    ),
    Column(
        "toxicity",
        "number",
        "probability that the text is toxic according to a classifier; empty if not scored",
        True,
    ),
    Column(
        "bias_level", "number", "level of bias according to the judge model, 1 to 5; empty if not rated", True
    ),
    Column(
        "text", "string", "the text that was scored; empty if the pair is not significant", True, exact=True
    ),
)
COLUMNS: Mapping[str, tuple[Column, ...]] = {TABLE: _COLUMNS}
DESCRIPTIONS: Mapping[str, str] = {TABLE: DESCRIPTION}


def asks_for_words(study: Study, using: str) -> bool:
    """Return whether a probe of the study asks for words about descriptors."""
    runs = ProbeRun.objects.using(using).filter(study=study).exclude(questions={})
    kinds = {
        question.kind
        for content in runs.values_list("questions", flat=True)
        for experiment in ProbeSet.model_validate(content).experiments
        for question in experiment.questions
    }
    return bool(kinds & {"complete", "describe"})


def pages(study: Study, using: str) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of some rows at a time; nothing if the results do not include all answers and scores."""
    report = current_report(study, using=using)
    stored = report.tables.using(using).filter(name=_STORED).first() if report else None
    if stored is None:
        return
    rows = stored.values()
    places = {column.name: stored.columns.index(column.name) for column in _COLUMNS}
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        block = rows[start : start + _ROWS_AT_ONCE]
        yield {name: [row[place] for row in block] for name, place in places.items()}
