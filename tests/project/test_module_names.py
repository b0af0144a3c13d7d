"""Modules and packages are named in the glossary's terms, or in the plain technical words listed here."""

import re
from pathlib import PurePosixPath

import pytest

from tests.project.test_layout import ROOT, tracked_files

pytestmark = pytest.mark.database_free

APPS = ("analysis/", "annotation/", "generation/", "platform/")
# Each word also permits its plural. Before adding one, look for the glossary's word.
PLAIN_WORDS = {
    "Django, Python and the web": """
        adapter admin api app archive arguments asgi authentication backend background base batches browser
        build bulk bytecode call caller catalog chain changelog chat client column command config configuration
        connection context control convert counters database decode design devices diff digest disk display
        doubts download encryption endpoint entries env errors events execution fetch fields file folder form
        format formulas foundation frame front gallery gauges guard health history home ids import importer
        inputs integration interface invalidate inventory key keyset layout lines listing loader locks log
        lookups loopback management map markup memory metadata middleware migrate migrations model monitoring
        name navigation negotiation network next online opaque operations outages output overview page
        pagination parameters parse parsers part passkeys payload permissions planner platform preload prepare preview
        process progress projects queries reader records recovery redaction reencode references registry rekey
        reporter responses rest routers rows sanitize schema scope script second secret seed serializers server
        service shutdown signatures signed sources stack statements storage store stream subscription summary sweep
        sync table tabs templatetags text tokens tones tracing types uploads urls user validation values verify
        versions view web webhook workbook writer
    """,
    "Products and formats": """
        allauth celery clip coco croissant csv diffusers en inspect lite lora m49 markdown openai openid pdf
        postgresql prolific rai saml sentry sql sqlite studio svg transformers vega visage wsgi zips
    """,
    "Statistics and plots": """
        ac accuracy alpha analysis analyze and arrays axis bars bias bigrams bootstrap charts choropleth
        classification cluster combinations compare comparison compute consensus coverage data davidson
        differences disagreement diverging dots drift effect estimate facts feasibility features fill fleiss
        freshness geography geometry groupings gwet headline heat inference influence interval kappa kendall
        krippendorff leaderboard leave level likert limits linkage luce machine matcher means measured measures
        metrics multiplicity nan newton ngrams noise observed offensiveness one out overlap pace pair paired
        pairwise palette permutation plackett plot points position precision preferences ranking regions
        resampling results sample scatter scored scoring selection sensitivity shares skill soft statistics
        strengths tfidf totals unit units variation w workload world
    """,
    "Studies, people and releases": """
        absences access accounts addresses advice allocation arrival assembly audit backlog bodies canvas caps
        captioners card categories changes checklist choice clauses cleanup clothes codebook coder colours
        consent contact contents copied corrections cost country creation day decisions declaration deletion
        deletions delivery demo documents doubles draft drawing eligibility enforcement examples exclusion extension
        figure guideline harm inclusion institutions judge label language lead letter licences lifecycle link
        mark marking matter membership new onboarding pay people personal picture placeholders privacy problems
        profile promises props quota rating reasons recipients refusals retraction review rounds rubric screen
        sentences sheet simulation sketch spending stages states submission translation truth unlisted verdict
        vocabulary window word
    """,
    "What is done": """
        apply ask built clone coarsen collect create edit erase freed freeze generate in launch make open
        planning redraw restore reuse send serve shuffle sign simulate unsent use watch
    """,
}


def glossary_words() -> set[str]:
    terms = re.findall(r"^\| \*\*(.*?)\*\*", (ROOT / "docs/use/glossary.md").read_text(), re.MULTILINE)
    return {word for term in terms for word in re.findall(r"[a-z]+", term.lower())}


def plain_words() -> list[str]:
    return [word for words in PLAIN_WORDS.values() for word in words.split()]


def forms(word: str) -> set[str]:
    """Return a word and its possible singulars."""
    return {word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)}


def words_of_modules() -> dict[str, str]:
    """Return one module for each word in the names of modules and packages."""
    modules = [
        PurePosixPath(path) for path in tracked_files() if path.startswith(APPS) and path.endswith(".py")
    ]
    return {
        word: str(module)
        for module in modules
        if module.parent.name != "migrations"
        for name in (*module.parent.parts, module.stem)
        if name != "__init__"
        for word in name.split("_")
    }


def test_module_names_are_made_of_words_that_readers_know():
    known_words = glossary_words() | set(plain_words())
    strange = {word: module for word, module in words_of_modules().items() if not forms(word) & known_words}
    assert strange == {}


def test_every_plain_word_is_needed():
    glossary = glossary_words()
    used = {form for word in words_of_modules() if not forms(word) & glossary for form in forms(word)}
    assert [word for word in plain_words() if word not in used] == []


@pytest.mark.parametrize("group", PLAIN_WORDS)
def test_plain_words_are_sorted(group):
    words = PLAIN_WORDS[group].split()
    assert words == sorted(set(words))
    assert not any(set(words) & set(others.split()) for name, others in PLAIN_WORDS.items() if name != group)


@pytest.mark.parametrize("word", ["telling", "anew", "standing", "stock"])
def test_a_riddle_is_no_word_for_a_module(word):
    assert not forms(word) & (glossary_words() | set(plain_words()))
