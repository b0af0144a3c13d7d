"""The pairs that scorers of associations score: those that are significant by either rule."""

from analysis.results.data.endpoint_models import read_served_models
from analysis.results.data.word_answers import read_word_answers
from analysis.results.parameters import parameters_of
from analysis.results.probing.associations import associated_words, significant_by_either, with_texts
from analysis.scoring.inputs.pairs import ScoredPair
from jobs.progress.reporter import Unwatched
from studies.models import Study


def scored_pairs(study: Study) -> list[ScoredPair]:
    """Return each pair of descriptor and text once, in order."""
    data = read_word_answers(study, Unwatched(), served=read_served_models(study))
    if not len(data.words):
        return []
    table = with_texts(associated_words(data, parameters_of(study)).table, data)
    rows = table.loc[significant_by_either(table), ["descriptor", "text"]]
    return sorted(
        {ScoredPair(str(descriptor), str(text)) for descriptor, text in rows.itertuples(index=False)}
    )
