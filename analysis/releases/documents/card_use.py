"""The parts of the data card that are about use: what it is fit for, its limits, privacy, loading, citing."""

from analysis.releases.contents import CampaignFacts, Contents
from analysis.releases.documents.card_people import coarsening
from analysis.releases.documents.front_matter import loadable, read_format
from analysis.releases.documents.licences import licence_of
from analysis.releases.documents.markdown import amount, bullets, listed, plain, sections
from catalog.raters import RaterPools

_PANDAS = {
    "parquet": 'pd.read_parquet("DIR/{path}")',
    "csv": 'pd.read_csv("DIR/{path}")',
    "jsonl": 'pd.read_json("DIR/{path}", lines=True)',
}
_OF_ATTRIBUTES = (
    "as facts about any people: a stereotype listed here is something that was said, not something that is so",
    "training or prompting a model to depict groups by these attributes",
)


def intended_uses(contents: Contents) -> tuple[str, ...]:
    """What the data are for."""
    disagreement = (
        "studying how people disagree on what a picture shows, annotator by annotator"
        if contents.ids_are_people
        else "studying how answers to the same question about a picture disagree"
    )
    return (
        *(
            (
                "measuring which attributes a text-to-image model shows for which identity groups, with uncertainty",
            )
            if contents.about_attributes
            else ()
        ),
        *(
            (
                "measuring what people answer about what screens showed, question by question, with uncertainty",
            )
            if contents.question_campaigns
            else ()
        ),
        disagreement,
        *(("comparing automated scores with what people saw",) if contents.about_attributes else ()),
    )


def unsuitable_uses(contents: Contents) -> tuple[str, ...]:
    """What the data must not be used for."""
    names = listed([plain(campaign.name) for campaign in contents.campaigns if not campaign.ids_are_people])
    by_id = (
        f"anything that follows single annotators in {names}, such as their agreement, skill or bias: an id there is "
        "not one person",
    )
    return (
        *(() if contents.ids_are_people else by_id),
        *(_OF_ATTRIBUTES if contents.about_attributes else ("as facts about any people",)),
        "judging, ranking or finding single annotators",
    )


def limitations(contents: Contents) -> tuple[str, ...]:
    """What one cannot conclude."""
    few = [
        campaign
        for campaign in contents.campaigns
        if not campaign.imported and campaign.annotators_per_task < 3
    ]
    sample = "Who annotates decides what is seen. The annotators are no sample of any population."
    lines = []
    if contents.about_attributes:
        lines += [
            "Annotators saw single images with attributes chosen beforehand: what nobody asked about is not in "
            "the data.",
            sample,
            "Attributes are words of one language; how they are read differs between people.",
            "Likelihoods describe these images of these models and prompts, and neither people nor other images.",
        ]
    if contents.question_campaigns:
        lines += [
            "Declared questions were chosen beforehand: what nobody asked about is not in the data.",
            *([] if contents.about_attributes else [sample]),
            "Questions are read differently by different people, and in the language that each of them chose.",
            "Answers to declared questions describe what these screens showed, and nothing else.",
        ]
    if contents.study.resource and contents.about_attributes:
        lines.append(
            f"What counts as a stereotype follows “{contents.study.resource}”, by at least "
            f"{amount(contents.study.min_raters, 'rater')} {RaterPools(contents.study.rater_pools).label}; "
            "stereotypes it does not list are taken for random."
        )
    if few:
        lines.append(
            "Some tasks were to be answered by fewer than three annotators: majorities say little there."
        )
    lines += [
        f"{plain(campaign.name)} was imported: ids in the imported file {_stands_for(campaign)}."
        for campaign in contents.campaigns
        if campaign.imported
    ]
    return tuple(lines)


def _stands_for(campaign: CampaignFacts) -> str:
    if campaign.ids_are_people:
        return "need not be one person each"
    return (
        "are not one person each (most sit on a single image, or more than 5 % of the judgements repeat one by the "
        "same id), so how much people differ cannot be told from how much images differ"
    )


def biases(contents: Contents) -> tuple[str, ...]:
    """Where the data lean."""
    stayed = "Annotators who were invited, accepted and stayed are not like those who did not."
    if not contents.about_attributes:
        return (stayed, "Being asked a question makes one look for an answer to it.")
    return (
        "The data hold stereotypes on purpose, offensive ones among them.",
        stayed,
        "Being asked about an attribute makes one look for it: every attribute is asked beside others, random ones "
        "among them, to bound this.",
    )


def use(contents: Contents) -> str:
    """Uses, limits and privacy."""
    return sections(
        [
            "## Uses",
            "For:",
            bullets(intended_uses(contents)),
            "Not for:",
            bullets(unsuitable_uses(contents)),
            "## Known limitations",
            bullets(plain(line) for line in (*limitations(contents), *biases(contents))),
            "## Privacy",
            privacy(contents),
        ]
    ).rstrip("\n")


def privacy(contents: Contents) -> str:
    """What protects the people behind the labels."""
    if contents.study.simulated:
        return "There are no people behind these labels."
    written = "What annotators wrote when unsure is released in their own words, as the lead chose."
    if contents.question_campaigns:
        written = "What annotators wrote in their own words is released, as the lead chose."
    words = {
        "withheld": "Free text of annotators is withheld.",
        "released": written,
        "none_written": "",
    }
    parts = [
        "Ids are made anew for each release, with a key that is not published; rows are in an order drawn from it. "
        "People of two releases can be matched all the same, by what they answered about which image, and profiles "
        "of both read together. Moments of submission are given as days.",
        coarsening(contents) if contents.privacy.people else "Nobody stated anything of themselves.",
        words.get(contents.privacy.justifications, ""),
        "`privacy.json` says the same for programs.",
    ]
    return " ".join(part for part in parts if part)


def loading(contents: Contents) -> str:
    """How to load it."""
    file_format = read_format(contents)
    tables = loadable(contents)
    if file_format is None or not tables:
        return "## Loading\n\nThis release was built without tables."
    default_table, annotators_table = tables[0], next(table for table in tables if table.name == "annotators")
    lines = [
        "import datasets",
        "",
        f'datasets.load_dataset("DIR")  # {default_table.name}',
        f'datasets.load_dataset("DIR", "{annotators_table.name}")',
        "",
        "import pandas as pd",
        "",
        _PANDAS[file_format].format(path=default_table.files[file_format]),
        "",
        "import mlcroissant",
        "",
        f'mlcroissant.Dataset(jsonld="DIR/croissant.json").records("{default_table.name}")',
    ]
    names = ", ".join(f"`{table.name}`" for table in tables)
    empty = [f"`{table.name}`" for table in tables if not table.rows]
    without = f" Without rows, and so not for `datasets`: {', '.join(empty)}." if empty else ""
    code = "\n".join(["```python", *lines, "```"])
    return sections(
        [
            "## Loading",
            "`DIR` is this folder.",
            code,
            f"Tables: {names}. `CODEBOOK.md` explains each column.{without}",
        ]
    ).rstrip("\n")


def licence(contents: Contents) -> str:
    """The licence, in one paragraph."""
    chosen = licence_of(contents.parameters.licence)
    name = f"[{plain(chosen.name)}]({chosen.url})" if chosen.url else plain(chosen.name)
    return f"## Licence\n\n{name}. {plain(chosen.statement)} `LICENSE.txt` says what it does not cover."


def citation_entry(contents: Contents) -> str:
    """A BibTeX entry that names the release by the digest of its labels."""
    study = contents.study
    title = study.name.replace("{", "(").replace("}", ")").replace("\\", "/")
    labels = "Annotator-level labels" if contents.ids_are_people else "Labels answer by answer"
    lines = [
        f"@misc{{{study.slug}-release-{contents.version},",
        f"  title = {{{' '.join(title.split())}, release {contents.version}}},",
        f"  version = {{{contents.version}}},",
        *([f"  year = {{{contents.last_day.year}}},"] if contents.last_day else []),
        f"  note = {{{labels}, inputs sha256:{contents.inputs_digest}}},",
        "}",
    ]
    return "\n".join(lines)


def citation(contents: Contents) -> str:
    """How to cite it."""
    parts = [
        "## Citation",
        "Name the release and the digest of its labels: equal digests are equal labels.",
        f"```bibtex\n{citation_entry(contents)}\n```",
    ]
    if contents.study.resource_citation:
        parts.append(f"The resource is cited as: {plain(contents.study.resource_citation)}")
    return sections(parts).rstrip("\n")
