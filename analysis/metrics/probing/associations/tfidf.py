"""Words that a model answers more often for one descriptor than for others."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_choice, require_columns
from analysis.metrics.probing.associations.answers import WordAnswers, parts
from analysis.metrics.probing.associations.exact import benjamini_hochberg, upper_tail, upper_tail_of_sums

LEVEL = 0.05
LEAST_DOCUMENTS = 2
NO_VARIATION = "no_variation"
NO_SAMPLING = "no_sampling"
ONE_DOCUMENT = "one_document"
DOCUMENTS, DESCRIPTORS = "documents", "descriptors"
EVERY, FIRST = "every", "first"
WORDS, DESCRIPTIONS = "text-to-text", "image-to-text"
METHOD = "tf·ln(T/df); published rule: upper normal tail of z; exact: hypergeometric, Benjamini–Hochberg"


def tfidf_associations(
    answers: Any,
    *,
    df: str = DOCUMENTS,
    sampled: bool = True,
    dimensions: pd.DataFrame | None = None,
    dimension: str = EVERY,
    level: float = LEVEL,
) -> Result:
    """The words that a model associates with descriptors, by the published rule and by an exact test.

    `answers`: one row per word with the columns setting, letter (empty for descriptions), descriptor, document, word[,
    model, dimension, repeat, template, temperature]. A document is one run of one template (text-to-text: its 26
    answers) or one description; documents of different descriptors differ even if their names are equal. An empty word
    is an answer that is missing or was left out: its document still counts. Words are lower-cased; null, none, nan and
    na are ordinary words.

    Per model × setting and pair: tf(d,w) = times w occurs with descriptor d; df(w) = documents that contain w
    (`df="descriptors"`: descriptors); T = documents × 26 if words were requested by letter, otherwise documents; tfidf
    = tf·ln(T/df). *Published rule*: z over the distinct pairs of the model × setting, all dimensions together (sd with
    ddof 1), p its upper normal tail, `significant` if p < `level`. This rule always selects the upper tail of the
    scores, whether or not they show bias.

    *Exact test*: if descriptors were shuffled within (setting, letter), tf(d,w) ~ Hypergeometric(answered cells, cells
    with w, cells of d), and p_exact = P(X ≥ tf). For a word with several letters X is the sum over letters
    (convolution); for descriptions, documents that contain w replace tf. q_exact: Benjamini–Hochberg over the pairs
    with df ≥ 2 of the model × setting. This family has only pairs that occur, and the more words there are, the more
    unlikely is each pair that occurs; q_exact therefore does not control the rate of false discoveries. q_all_pairs
    does: its family is every descriptor × every word with df ≥ 2, and pairs that do not occur have p = 1.
    `significant_exact`: q_all_pairs < `level`.

    With `sampled=False`, or if a column `temperature` is 0 in all rows of a model × setting, repeats are copies: only
    the first repeat of each descriptor × template counts, and the exact test is null.

    A descriptor in several dimensions (rows with other dimensions in `answers`, or several rows of `dimensions`:
    descriptor, dimension) has a row for each dimension, with the same numbers; `dimension="first"` keeps the first, as
    published. A document that is repeated for a second dimension counts once.

    Null (`reason`): z and p with `no_variation` if scores do not differ. Null (`exact_reason`): p_exact and q_exact
    with `no_sampling`; q_exact and q_all_pairs with `one_document` if df is 1. Raises ValueError for a missing column,
    an empty name or an unknown option.

    Source: Raj et al. 2024, *BiasDora*; Fisher 1935; Benjamini & Hochberg 1995.
    """
    require_choice(df, "df", (DOCUMENTS, DESCRIPTORS))
    require_choice(dimension, "dimension", (EVERY, FIRST))
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
    table = require_columns(answers, "answers", ["descriptor", "document"])
    repeated = _repeated_for_dimensions(table)
    kept = table if repeated is None else table[~repeated]
    tables, missing, left_out, used = [], 0, 0, 0
    for part in parts(kept, sampled=sampled):
        tables.append(_associations(part, df, level))
        missing += int((part.word < 0).sum())
        left_out += part.repeats_left_out
        used += int((part.word >= 0).sum())
    result = pd.concat(tables, ignore_index=True) if tables else _empty()
    return Result(
        table=_with_dimensions(result, table, dimensions, dimension),
        used=used,
        dropped={
            "missing": missing,
            "repeats": left_out,
            "other_dimensions": 0 if repeated is None else int(repeated.sum()),
        },
        method=METHOD,
        notes={"df": df, "level": level, "dimension": dimension},
    )


def _associations(part: WordAnswers, df: str, level: float) -> pd.DataFrame:
    answered = part.word >= 0
    descriptor, document, word = (values[answered] for values in (part.descriptor, part.document, part.word))
    width = len(part.word_names)
    pair, tf = np.unique(descriptor.astype(np.int64) * width + word, return_counts=True)
    pair_descriptor, pair_word = pair // width, pair % width
    in_document = np.unique(document.astype(np.int64) * width + word)
    documents_with = np.bincount(in_document % width, minlength=width)
    df_of_word = documents_with if df == DOCUMENTS else np.bincount(pair_word, minlength=width)
    total = part.total
    score = tfidf(tf, df_of_word[pair_word], total)
    z, p, reason = published_rule(score)
    p_exact: Array = np.full(len(pair), np.nan)
    if part.is_sampled:
        exact = _by_letter if part.has_letters else _by_document
        p_exact = exact(part, answered, pair, tf, in_document)
    is_shared = documents_with[pair_word] >= LEAST_DOCUMENTS
    tested = np.where(is_shared, p_exact, np.nan)
    q_exact = benjamini_hochberg(tested)
    every_pair = len(np.unique(descriptor)) * int((documents_with >= LEAST_DOCUMENTS).sum())
    q_all_pairs = benjamini_hochberg(tested, tests=every_pair)
    exact_reason = (
        np.where(is_shared, "", ONE_DOCUMENT) if part.is_sampled else np.full(len(pair), NO_SAMPLING)
    )
    return pd.DataFrame(
        {
            "model": labels([part.model]).repeat(len(pair)).reset_index(drop=True),
            "modality": labels([WORDS if part.has_letters else DESCRIPTIONS])
            .repeat(len(pair))
            .reset_index(drop=True),
            "setting": labels([part.setting]).repeat(len(pair)).reset_index(drop=True),
            "descriptor": pd.Series(part.descriptor_names[pair_descriptor], dtype="string"),
            "word": pd.Series(part.word_names[pair_word], dtype="string"),
            "tf": counts(tf),
            "df": counts(df_of_word[pair_word]),
            "documents": counts(np.full(len(pair), total)),
            "tfidf": numbers(score),
            "z": numbers(z),
            "p": numbers(p),
            "significant": pd.arrays.BooleanArray(p < level, np.isnan(p)),
            "reason": words(np.full(len(pair), reason)),
            "p_exact": numbers(p_exact),
            "q_exact": numbers(q_exact),
            "q_all_pairs": numbers(q_all_pairs),
            "significant_exact": pd.arrays.BooleanArray(q_all_pairs < level, np.isnan(q_all_pairs)),
            "exact_reason": words(exact_reason),
        }
    )


def tfidf(tf: Any, df: Any, total: int) -> Array:
    """tf·ln(T/df)."""
    return np.asarray(np.asarray(tf, dtype=float) * np.log(total / np.asarray(df, dtype=float)))


def published_rule(scores: Array) -> tuple[Array, Array, str]:
    """z of the scores of distinct pairs (sd with ddof 1), their upper normal tail, and the reason if they are null."""
    from scipy.special import ndtr

    sd = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    if not sd > 1e-12 * float(np.max(np.abs(scores), initial=0)):
        nothing = np.full(len(scores), np.nan)
        return nothing, nothing, NO_VARIATION
    z = (scores - scores.mean()) / sd
    return z, np.asarray(ndtr(-z)), ""


def _by_letter(part: WordAnswers, answered: Array, pair: Array, tf: Array, _in_document: Array) -> Array:
    """P(X ≥ tf) with answers shuffled among the descriptors within each letter."""
    width, letters, people = len(part.word_names), len(part.letter_names), len(part.descriptor_names)
    letter, word, descriptor = (
        values[answered].astype(np.int64) for values in (part.letter, part.word, part.descriptor)
    )
    cells = np.bincount(letter, minlength=letters)
    of_descriptor = np.bincount(descriptor * letters + letter, minlength=people * letters)
    key, with_word = np.unique(word * letters + letter, return_counts=True)
    of_word = np.bincount(key // letters, minlength=width)  # number of letters
    begins = np.cumsum(of_word) - of_word
    pair_word, pair_descriptor = pair % width, pair // width
    place = begins[pair_word]
    only = key[place] % letters
    p = upper_tail(tf, cells[only], with_word[place], of_descriptor[pair_descriptor * letters + only])
    several = np.flatnonzero(of_word[pair_word] > 1)
    under = of_word[pair_word[several]]
    within = np.arange(under.sum()) - np.repeat(np.cumsum(under) - under, under)
    at = np.repeat(place[several], under) + within
    drawn = of_descriptor[np.repeat(pair_descriptor[several], under) * letters + key[at] % letters]
    p[several] = upper_tail_of_sums(tf[several], under, cells[key[at] % letters], with_word[at], drawn)
    return p


def _by_document(part: WordAnswers, answered: Array, pair: Array, _tf: Array, in_document: Array) -> Array:
    """P(X ≥ documents of d with w) with documents shuffled among the descriptors."""
    width = len(part.word_names)
    described = np.zeros(part.documents, dtype=bool)
    described[part.document[answered]] = True
    owner = np.zeros(part.documents, dtype=np.int64)
    owner[part.document] = part.descriptor
    of_descriptor = np.bincount(owner[described], minlength=len(part.descriptor_names))
    documents, number = np.unique(
        owner[in_document // width] * width + in_document % width, return_counts=True
    )
    with_word = np.bincount(in_document % width, minlength=width)
    assert np.array_equal(documents, pair)
    total = np.full(len(pair), int(described.sum()))
    return upper_tail(number, total, with_word[pair % width], of_descriptor[pair // width])


def _repeated_for_dimensions(table: pd.DataFrame) -> Array | None:
    """Rows of a document that is repeated for another dimension of its descriptor."""
    if "dimension" not in table:
        return None
    key = [name for name in ("model", "setting", "descriptor", "document") if name in table]
    dimension, _ = pd.factorize(table["dimension"])
    return np.asarray(
        dimension != table.assign(_dimension=dimension).groupby(key)["_dimension"].transform("first")
    )


def _with_dimensions(
    result: pd.DataFrame, table: pd.DataFrame, dimensions: pd.DataFrame | None, which: str
) -> pd.DataFrame:
    """One row per dimension of the descriptor."""
    known = dimensions
    if known is None:
        known = table if "dimension" in table else pd.DataFrame({"descriptor": [], "dimension": []})
    require_columns(known, "dimensions", ["descriptor", "dimension"])
    listed = known[["descriptor", "dimension"]].dropna().astype(str).drop_duplicates()
    if which == FIRST:
        listed = listed.drop_duplicates("descriptor")
    listed = listed.astype("string")
    joined = result.merge(listed, on="descriptor", how="left")
    joined.insert(3, "dimension", joined.pop("dimension").astype("string"))
    return joined


def _empty() -> pd.DataFrame:
    nothing = np.empty(0, dtype=int)
    names = np.empty(0, dtype=object)
    part = WordAnswers(
        "", "", nothing, nothing, 0, nothing, nothing, names, np.array([""], dtype=object), names, True, 0
    )
    return _associations(part, DOCUMENTS, LEVEL)
