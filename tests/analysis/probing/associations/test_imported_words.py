"""From a file of replies to associations.csv, against the authors' procedure read row by row from the same file."""

import csv
import math
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from django.core.management import call_command
from scipy import stats

from tests.analysis.probing.isles import DESCRIPTORS, LETTERS, WORDS, isles

pytestmark = pytest.mark.django_db
NAMES = sorted({line.split(",")[1] for line in DESCRIPTORS.splitlines()[1:]})
SETTINGS = ("singular", "plural", "noun")
ODD = (
    "null",
    "None",
    "NaN",
    "",
    "no bracket",
    "[]",
    "[two words]",
    "[42]",
    "I won't. [bad] or [bold]",
    "[=1+1]",
)


@pytest.fixture
def replies(tmp_path):
    """A row for each cell: words under other letters, capitals, odd words, failed and declined requests."""
    generator = np.random.default_rng(2)
    rows = []
    for setting in SETTINGS:
        for place, name in enumerate(NAMES):
            for repeat in range(1, 7):
                for letter in LETTERS:
                    initial = letter if generator.random() > 0.1 else generator.choice(list(LETTERS))
                    word = f"{initial}{'aeiou'[generator.integers(3 + place % 3)]}n"
                    text = f"Sure! [{word.title() if generator.random() < 0.3 else word}]."
                    if generator.random() < 0.15:
                        text = str(generator.choice(ODD))
                    outcome = generator.choice(["done", "failed", "declined"], p=[0.94, 0.03, 0.03])
                    rows.append((setting, name, letter, repeat, str(outcome), text))
    return rows


@pytest.fixture
def associations(lead, tmp_path, replies):
    """Import, code and analyse the replies; associations.csv by the name of the choice of words."""
    study = isles(lead, tmp_path)
    (tmp_path / "isles.toml").write_bytes(WORDS)
    path = tmp_path / "replies.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "descriptor", "letter", "repeat", "outcome", "reply"])
        writer.writerows(replies)
    call_command(
        *("import_answers", path, "--study", study.slug, "--probe-set", str(tmp_path / "isles.toml")),
        *("--model", "elsewhere", "--map", "text=reply", "--output", tmp_path / "rejected"),
    )
    call_command("code_answers", "--study", study.slug)

    def analyze(choice):
        output = tmp_path / choice
        call_command(
            *("analyze", "--study", study.slug, "--output", str(output), "--resamples", "100"),
            *("--association-words", choice),
        )
        with (output / "associations.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    return analyze


def words_of(replies, *, published):
    """(setting, descriptor, letter, document) → the word that counts, or None."""
    words = {}
    for setting, name, letter, repeat, outcome, text in replies:
        bracket = re.search(r"\[(.*?)\]", text) if outcome == "done" else None
        word = bracket[1].lower().strip() if bracket else ""
        if published:
            word = word.replace(" ", "")
        elif not word.isalpha() or word[0] != letter:
            word = ""
        words[setting, name, letter, repeat] = word or None
    return words


def expected(words, setting):
    """(descriptor, word) → the row of one setting."""
    cells = [(n, letter, repeat, word) for (s, n, letter, repeat), word in words.items() if s == setting]
    answered = [cell for cell in cells if cell[3]]
    tf = Counter((name, word) for name, _, _, word in answered)
    df = Counter(word for _, _, word in {(name, repeat, word) for name, _, repeat, word in answered})
    total = len({(name, repeat) for name, _, repeat, _ in cells}) * 26
    score = np.array([times * math.log(total / df[word]) for (_, word), times in tf.items()])
    p = stats.norm.sf(score, loc=score.mean(), scale=score.std(ddof=1))
    p_exact = {pair: exact_tail(answered, *pair, times) for pair, times in tf.items()}
    tested = [pair for pair in tf if df[pair[1]] >= 2]
    q = dict(zip(tested, stats.false_discovery_control([p_exact[pair] for pair in tested]), strict=True))
    return {
        pair: {
            "tf": times,
            "df": df[pair[1]],
            "documents": total,
            "tfidf": score[i],
            "p": p[i],
            "p_exact": p_exact[pair],
            "q_exact": q.get(pair, math.nan),
        }
        for i, (pair, times) in enumerate(tf.items())
    }


def exact_tail(answered, name, word, times):
    by_letter = defaultdict(list)
    for descriptor, letter, _, said in answered:
        by_letter[letter].append((descriptor == name, said == word))
    chance = np.ones(1)
    for cells in by_letter.values():
        own, said = sum(mine for mine, _ in cells), sum(same for _, same in cells)
        chance = np.convolve(chance, stats.hypergeom.pmf(np.arange(own + 1), len(cells), said, own))
    return float(chance[times:].sum())


@pytest.mark.parametrize("choice", ["valid", "published"])
def test_imported_replies_give_the_published_tables(associations, replies, choice):
    rows = associations(choice)
    words = words_of(replies, published=choice == "published")
    for setting in SETTINGS:
        found = defaultdict(list)
        for row in rows:
            if row["setting"] == setting:
                found[row["descriptor"], row["word"].removeprefix("'")].append(row)
        right = expected(words, setting)
        assert found.keys() == right.keys()
        for pair, values in right.items():
            dimensions = {row["dimension"] for row in found[pair]}
            several = {"age", "island"} if choice == "valid" else {"island"}
            assert pair[0] != "Orsani person" or dimensions == several
            for row in found[pair]:
                numbers = {name: float(row[name] or "nan") for name in values}
                assert numbers == pytest.approx(values, rel=1e-9, nan_ok=True)
                assert (row["significant"] == "true") == (values["p"] < 0.05)
