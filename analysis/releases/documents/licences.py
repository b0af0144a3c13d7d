"""The licences that a lead can choose, by SPDX identifier; their texts are not included."""

from dataclasses import dataclass

from analysis.releases.contents import Contents
from analysis.releases.documents.markdown import amount
from analysis.releases.parameters import NOT_CHOSEN


@dataclass(frozen=True)
class Licence:
    """A licence, or no licence. `hub` is its name in the front matter of a data card."""

    spdx: str  # "" if there is no such identifier
    name: str
    url: str
    statement: str
    hub: str = "other"


_CREATIVE = "https://creativecommons.org/licenses/"
LICENCES = {
    NOT_CHOSEN: Licence(
        "",
        "All rights reserved",
        "",
        "The owner of this dataset has not chosen a licence. Nobody may copy, share or adapt the dataset more "
        "than the law allows without a licence; ask the owner.",
    ),
    "CC-BY-4.0": Licence(
        "CC-BY-4.0",
        "Creative Commons Attribution 4.0 International",
        f"{_CREATIVE}by/4.0/",
        "You may share and adapt this dataset for any purpose, if you give credit, link to the licence and say "
        "what you changed.",
        "cc-by-4.0",
    ),
    "CC-BY-SA-4.0": Licence(
        "CC-BY-SA-4.0",
        "Creative Commons Attribution-ShareAlike 4.0 International",
        f"{_CREATIVE}by-sa/4.0/",
        "You may share and adapt this dataset for any purpose, if you give credit, link to the licence, say what "
        "you changed and share adaptations under the same licence.",
        "cc-by-sa-4.0",
    ),
    "CC-BY-NC-4.0": Licence(
        "CC-BY-NC-4.0",
        "Creative Commons Attribution-NonCommercial 4.0 International",
        f"{_CREATIVE}by-nc/4.0/",
        "You may share and adapt this dataset for purposes that are not commercial, if you give credit, link to "
        "the licence and say what you changed.",
        "cc-by-nc-4.0",
    ),
    "CC-BY-NC-SA-4.0": Licence(
        "CC-BY-NC-SA-4.0",
        "Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International",
        f"{_CREATIVE}by-nc-sa/4.0/",
        "You may share and adapt this dataset for purposes that are not commercial, if you give credit, link to "
        "the licence, say what you changed and share adaptations under the same licence.",
        "cc-by-nc-sa-4.0",
    ),
    "CC0-1.0": Licence(
        "CC0-1.0",
        "Creative Commons Zero 1.0 Universal",
        "https://creativecommons.org/publicdomain/zero/1.0/",
        "The owner of this dataset waives all rights to it, as far as the law allows.",
        "cc0-1.0",
    ),
    "ODbL-1.0": Licence(
        "ODbL-1.0",
        "Open Data Commons Open Database License 1.0",
        "https://opendatacommons.org/licenses/odbl/1-0/",
        "You may share and adapt this database for any purpose, if you give credit, share adapted databases under "
        "the same licence and keep them open.",
        "odbl",
    ),
}


def licence_of(chosen: str) -> Licence:
    """Return the chosen licence: a known licence, none, or the lead's own words unchanged."""
    chosen = " ".join(chosen.split())
    if not chosen:
        return LICENCES[NOT_CHOSEN]
    by_identifier = {name.casefold(): licence for name, licence in LICENCES.items()}
    stated = Licence("", chosen, "", "The owner of this dataset states its licence in these words.")
    return by_identifier.get(chosen.casefold(), stated)


def licence_text(contents: Contents) -> str:
    """Return LICENSE.txt: the licence, the address of its text, and what it does not cover."""
    licence = licence_of(contents.parameters.licence)
    study = contents.study
    lines = [f"{study.name}, release {contents.version}", "", f"Licence: {licence.name}"]
    if licence.spdx:
        lines.append(f"SPDX-License-Identifier: {licence.spdx}")
    if licence.url:
        lines.append(f"Text: {licence.url}")
    lines += ["", licence.statement]
    covered = "The licence covers the labels and documents of this release"
    if contents.images.files:
        images = amount(contents.images.files, "image")
        covered += f" and, as far as the owner of the dataset has rights to them, {images}"
    lines += ["", f"{covered}."]
    if study.resource:
        terms = study.resource_licence or "the terms of the resource are not stated"
        lines += [
            "",
            f"The table of associations comes from the resource “{study.resource}”: {terms.rstrip('.')}.",
        ]
        if study.resource_citation:
            lines.append(f"Cite the resource as: {study.resource_citation}")
    if contents.images.models:
        lines += [
            "",
            f"Images were made by {', '.join(contents.images.models)}; the terms of these models may limit "
            f"their use.",
        ]
    return "\n".join(lines) + "\n"
