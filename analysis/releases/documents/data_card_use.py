"""The parts of the data card about use: purposes, limits, privacy, loading, citing."""

from analysis.releases.contents import CampaignFacts, Contents
from analysis.releases.documents.data_card_people import coarsening
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
    "as facts about people: a stereotype in this release is something that people have said, not a fact",
    "training or prompting a model to show groups with these attributes",
)


def intended_uses(contents: Contents) -> tuple[str, ...]:
    """The intended uses of the data."""
    disagreement = (
        "studying how single annotators differ in what they see in an image"
        if contents.ids_are_people
        else "studying how answers to the same question about an image differ"
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
                "measuring how people answer each question about the images or texts they saw, with uncertainty",
            )
            if contents.question_campaigns
            else ()
        ),
        disagreement,
        *(("comparing automated scores with people's answers",) if contents.about_attributes else ()),
    )


def unsuitable_uses(contents: Contents) -> tuple[str, ...]:
    """The uses for which the data are not intended."""
    names = listed([plain(campaign.name) for campaign in contents.campaigns if not campaign.ids_are_people])
    by_id = (
        f"any analysis of single annotators in {names}, such as their agreement, skill or bias: an id in "
        f"these labels does not stand for one person",
    )
    return (
        *(() if contents.ids_are_people else by_id),
        *(_OF_ATTRIBUTES if contents.about_attributes else ("as facts about people",)),
        "judging, ranking or identifying single annotators",
    )


def limitations(contents: Contents) -> tuple[str, ...]:
    """Which conclusions the data do not support."""
    few = [
        campaign
        for campaign in contents.campaigns
        if not campaign.imported and campaign.annotators_per_task < 3
    ]
    sample = (
        "Results depend on who annotates. The annotators are not a representative sample of a population."
    )
    lines = []
    if contents.about_attributes:
        lines += [
            "Annotators saw single images with attributes chosen beforehand. The data say nothing about "
            "other attributes.",
            sample,
            "Attributes are words in one language, and people understand words differently.",
            "Likelihoods describe only these images of these models and prompts. Likelihoods do not "
            "describe people or other images.",
        ]
    if contents.question_campaigns:
        lines += [
            "The questions were chosen beforehand. The data say nothing about what was not asked.",
            *([] if contents.about_attributes else [sample]),
            "People understand questions differently, and they read them in the language that they chose.",
            "Answers to declared questions describe only what these screens showed.",
        ]
    if contents.study.resource and contents.about_attributes:
        lines.append(
            f"An attribute counts as a stereotype if “{contents.study.resource}” lists it for the group and at least "
            f"{amount(contents.study.min_raters, 'rater')} {RaterPools(contents.study.rater_pools).label} "
            f"called it a stereotype of the group. Stereotypes that are not listed count as random attributes."
        )
    if few:
        lines.append(
            "Some campaigns asked for fewer than three annotators for each task. For these tasks, a "
            "majority of the answers tells you little."
        )
    lines += [
        f"{plain(campaign.name)} was imported: {_stands_for(campaign)}."
        for campaign in contents.campaigns
        if campaign.imported
    ]
    return tuple(lines)


def _stands_for(campaign: CampaignFacts) -> str:
    if campaign.ids_are_people:
        return "it is not known whether each id in the imported file stands for one person"
    return (
        "an id in the imported file does not stand for one person (most ids occur with a single image only, or "
        "more than 5 % of the judgements repeat a judgement by the same id). Differences between people cannot be "
        "separated from differences between images"
    )


def biases(contents: Contents) -> tuple[str, ...]:
    """The known biases of the data."""
    stayed = "People who accepted the invitation and stayed may differ from people who did not."
    if not contents.about_attributes:
        return (stayed, "A question makes people look for an answer, so it can influence what they see.")
    return (
        "The data contain stereotypes on purpose, including offensive ones.",
        stayed,
        "A question about an attribute makes people look for the attribute; to limit this effect, each attribute is "
        "asked about together with others, including random attributes.",
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
    """The protection of the people behind the labels."""
    if contents.study.simulated:
        return "There are no people behind these labels."
    written = (
        "The release includes what annotators wrote when they were unsure, in their own words. The "
        "study's lead chose to include these texts."
    )
    if contents.question_campaigns:
        written = (
            "The release includes what annotators wrote in their own words. The study's lead chose to include "
            "these texts."
        )
    words = {
        "withheld": "Texts that annotators wrote are withheld.",
        "released": written,
        "none_written": "",
    }
    parts = [
        "Annotators have new ids in each release. The ids and the order of the rows are made with a key "
        "that is not published. Readers can still match people in two releases by their answers about "
        "images, and combine the two profiles. Times of submission are given as days.",
        coarsening(contents) if contents.privacy.people else "Nobody gave details about themselves.",
        words.get(contents.privacy.justifications, ""),
        "`privacy.json` has this information for programs.",
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
    without = f" Tables without rows, which `datasets` does not load: {', '.join(empty)}." if empty else ""
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
    return (
        f"## Licence\n\n{name}. {plain(chosen.statement)} `LICENSE.txt` says what the licence does not cover."
    )


def citation_entry(contents: Contents) -> str:
    """A BibTeX entry that names the release by the digest of its labels."""
    study = contents.study
    title = study.name.replace("{", "(").replace("}", ")").replace("\\", "/")
    labels = "Annotator-level labels" if contents.ids_are_people else "Labels of single answers"
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
        "Please cite the release and the digest of its labels. Releases with the same digest have the same labels.",
        f"```bibtex\n{citation_entry(contents)}\n```",
    ]
    if contents.study.resource_citation:
        parts.append(f"Please also cite the resource: {plain(contents.study.resource_citation)}")
    return sections(parts).rstrip("\n")
