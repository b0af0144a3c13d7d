"""One pass over a study's labels that writes all data of a release into its folder."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.models import Scorer
from analysis.releases.assembly.fill_probes import ProbeFilling
from analysis.releases.assembly.fill_questions import QuestionFilling
from analysis.releases.assembly.snapshot import read_ahead
from analysis.releases.assembly.study_facts import Tally, released_campaigns, study_facts
from analysis.releases.contents import (
    CampaignFacts,
    CocoFacts,
    Column,
    ImageFacts,
    PrivacyReport,
    ProbeRunFacts,
    ReleaseTable,
    StudyFacts,
)
from analysis.releases.formats.background_writer import BackgroundWriter
from analysis.releases.formats.coco import CocoWriter
from analysis.releases.formats.writers import TableWriter
from analysis.releases.key_sets import KeySet
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.privacy import profile_history
from analysis.releases.privacy.check import check
from analysis.releases.privacy.coarsen import Coarsened
from analysis.releases.privacy.languages import shown_readers
from analysis.releases.privacy.linkage import Earlier
from analysis.releases.privacy.people import people_of
from analysis.releases.tables import association_rows, machine_columns
from analysis.releases.tables.annotator_rows import AnnotatorRows
from analysis.releases.tables.columns import ALL_DESCRIPTIONS, TABLES, columns_of
from analysis.releases.tables.image_rows import FOLDER, ImageRows
from analysis.releases.tables.label_columns import LabelColumns, Naming, Numbering
from analysis.releases.tables.label_pages import Page, pages
from analysis.releases.tables.lookups import KeyNames
from analysis.releases.tables.machine_rows import MachineRows
from analysis.releases.tables.probes import columns as probe_columns
from analysis.releases.tables.probes import words
from analysis.releases.tables.probes.rows import ProbeRows, answers_of
from analysis.releases.tables.questions import columns as question_columns
from analysis.releases.tables.soft_labels import SoftLabels
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Campaign, Judgement
from catalog.models import Attribute
from jobs.progress.reporter import Progress
from studies.models import Study

# Increased when equal labels are written differently, so that the next release is a new version.
FORMAT = 3


@dataclass(eq=False)
class Filled:
    """The written contents, and the database rows behind them."""

    study: StudyFacts
    campaigns: tuple[CampaignFacts, ...] = ()
    justifications: bool = False  # whether an annotator wrote why they were unsure, released or not
    tables: tuple[ReleaseTable, ...] = ()
    images: ImageFacts = field(default_factory=lambda: ImageFacts(0, 0, {}, (), 0))
    coco: CocoFacts | None = None
    privacy: PrivacyReport | None = None
    probes: tuple[ProbeRunFacts, ...] = ()
    answers_not_compared: int = 0  # of models, about scenarios that people did not keep
    profiles: bytes = b""  # as stored with the release: see `kept_profiles`
    inputs_digest: str = ""
    annotation_keys: KeySet = field(default_factory=KeySet)
    annotator_keys: KeySet = field(default_factory=KeySet)
    image_keys: KeySet = field(default_factory=KeySet)


class Filling:
    """Fills one folder. `using` is a connection in a snapshot; `key` and `version` make the ids."""

    def __init__(
        self,
        *,
        study: Study,
        using: str,
        folder: Path,
        parameters: ReleaseParameters,
        key: bytes,
        version: int,
        earlier: Sequence[Earlier],
        progress: Progress,
    ) -> None:
        self._study, self._using, self._folder = study, using, folder
        self._parameters, self._key, self._version = parameters, key, version
        self._earlier, self._progress = earlier, progress
        self._digest = hashlib.sha256(f"release format {FORMAT}\n".encode())
        self._writers: dict[str, TableWriter] = {}
        self._filled = Filled(study_facts(study))

    def run(self) -> Filled:
        """Write all tables, pictures and boxes; return their description."""
        campaigns = released_campaigns(self._study, self._using)
        self._asking = [campaign for campaign in campaigns if not kind_of(campaign).about_attributes]
        answers = Annotation.objects.using(self._using).filter(campaign__in=campaigns).count()
        self._progress.start(answers)
        self._coarsened = self._coarsen(campaigns)  # first, so that a refused release writes nothing
        probed = answers_of(self._study, self._using).exists()
        self._probes = self._probe_rows() if probed else None
        with ExitStack() as open_files:
            for name, described in self._described():
                writer = TableWriter(self._folder, name, described, self._parameters.formats)
                self._writers[name] = open_files.enter_context(writer)
            self._writing = open_files.enter_context(BackgroundWriter())
            naming, annotators = self._name()
            soft = open_files.enter_context(SoftLabels(self._folder, naming, annotations=answers))
            coco = None
            if "coco" in self._parameters.formats:
                coco = open_files.enter_context(CocoWriter(self._folder, naming))
            self._labels(campaigns, naming, annotators, soft, coco)
            if coco is not None:
                self._writing.finish()
                title = {"description": self._filled.study.name, "version": str(self._version)}
                self._filled.coco = coco.write(title)
            for columns in soft.pages():
                self._write("soft_labels", columns)
            if self._probes is not None:
                self._answers_of_models(self._probes, naming, annotators)
            if words.TABLE in self._writers:
                self._words()
            if "scorers" in self._writers:
                self._machines(naming)
            self._annotators(annotators)
            self._writing.finish()
        self._filled.tables = tuple(
            ReleaseTable(name, ALL_DESCRIPTIONS[name], writer.columns, writer.rows, writer.files)
            for name, writer in self._writers.items()
        )
        self._note("study", [asdict(self._filled.study), *map(asdict, self._filled.campaigns)])
        self._filled.inputs_digest = self._digest.hexdigest()
        return self._filled

    def _described(self) -> Iterator[tuple[str, tuple[Column, ...]]]:
        """Yield the tables of this release with their columns."""
        empty = self._probes.empty_columns() if self._probes is not None else set()
        for name in self._tables():
            described = columns_of(
                name,
                justifications=self._parameters.include_justifications,
                questions=bool(self._asking),
                languages=self._readers is not None,
            )
            yield name, tuple(column for column in described if (name, column.name) not in empty)

    def _tables(self) -> tuple[str, ...]:
        """The tables of this release; tables of questions and models only if there are questions, answers or scores."""
        asked = question_columns.TABLES if self._asking else ()
        probed = probe_columns.TABLES if self._probes is not None else ()
        scored = Scorer.objects.using(self._using).filter(study=self._study).exists()
        given = self._probes is not None and words.asks_for_words(self._study, self._using)
        worded = (words.TABLE,) if given else ()
        return (*TABLES, *asked, *probed, *worded, *(machine_columns.TABLES if scored else ()))

    def _probe_rows(self) -> ProbeRows:
        return ProbeRows(
            self._study,
            self._using,
            key=self._key,
            version=self._version,
            reasons=self._parameters.include_justifications,
        )

    def _answers_of_models(self, rows: ProbeRows, naming: Naming, annotators: AnnotatorRows) -> None:
        self._filled.answers_not_compared = rows.left_out
        filling = ProbeFilling(rows, write=self._write, note=self._note)
        filling.declare(self._folder)
        self._filled.probes = filling.fill(
            naming,
            annotators,
            counted=self._filled.annotation_keys.flags,
            each=self._after_page_of_answers,
        )

    def _words(self) -> None:
        for columns in words.pages(self._study, self._using):
            self._write(words.TABLE, columns)
            self._note(words.TABLE, columns)
            self._after_page_of_answers()

    def _after_page_of_answers(self) -> None:
        self._progress.advance(0, "Writing answers of models")
        self._progress.check_cancelled()

    def _machines(self, naming: Naming) -> None:
        for name, columns in MachineRows.of(self._study, self._using, naming).tables():
            self._write(name, columns)
            for column, values in columns.items():
                self._digest.update(f"{name}.{column}:{len(values)}\n".encode())
                if isinstance(values, np.ndarray):
                    self._digest.update(np.ascontiguousarray(values).tobytes())
                else:
                    self._note(column, values if isinstance(values, list) else values.to_pylist())
            self._progress.advance(0, "Writing scores")
            self._progress.check_cancelled()

    def _name(self) -> tuple[Naming, AnnotatorRows]:
        """Write the rows that labels refer to; return the meaning of their keys."""
        with_files = self._parameters.with_images
        if with_files:
            (self._folder / FOLDER).mkdir()
        images = ImageRows(self._study, self._using, self._folder if with_files else None)
        for columns in images.pages():
            self._write("images", columns)
            self._note("images", columns)
            self._progress.advance(0, "Writing images")
            self._progress.check_cancelled()
        if with_files and not images.files:
            (self._folder / FOLDER).rmdir()
        table = images.table()
        self._filled.images = images.facts()
        self._note("images", asdict(self._filled.images))
        self._filled.image_keys.add(table.ids.keys)
        associations = association_rows.rows(self._study)
        self._write("associations", associations)
        self._note("associations", associations)
        texts = list(Attribute.objects.using(self._using).values_list("pk", "text"))
        attributes = KeyNames.of([key for key, _ in texts], [text for _, text in texts])
        highest = int(attributes.keys[-1]) + 1 if len(attributes.keys) else 1
        annotators = AnnotatorRows.of(self._study, using=self._using, key=self._key, version=self._version)
        stereotypes = association_rows.stereotype_pairs(self._study, table, highest)
        return Naming(annotators.names, attributes, table, stereotypes), annotators

    def _labels(
        self,
        campaigns: list[Campaign],
        naming: Naming,
        annotators: AnnotatorRows,
        soft: SoftLabels,
        coco: CocoWriter | None,
    ) -> None:
        left_out = self._coarsened.left_out
        numbering, tallies = Numbering(), [Tally(campaign, self._using, left_out) for campaign in campaigns]
        attribute_keys = KeySet()
        questions = self._questions(naming)
        for tally in tallies:
            if tally.campaign in self._asking:
                for answers in questions.fill(tally.campaign, numbering):
                    tally.add(answers)
                    annotators.add(answers)
                    self._advance(tally.campaign, len(answers.annotations["pk"]))
                continue
            marking = kind_of(tally.campaign).marks_attributes
            for page in self._pages(tally.campaign, naming):
                tables = LabelColumns(page, naming, numbering).fill(marking=marking)
                for name, columns in tables.items():
                    self._write(name, columns)
                if coco is not None and marking:
                    self._writing.submit(partial(coco.add, page, tables["boxes"]))
                tally.add(page)
                annotators.add(page)
                soft.add(page)
                attribute_keys.add(page.judgements["attribute"])
                self._remember(page)
                self._advance(tally.campaign, len(page.annotations["pk"]))
        self._filled.campaigns = tuple(tally.facts() for tally in tallies)
        texts = naming.attributes.of_keys(attribute_keys.keys()).to_pylist()
        self._note("attributes", list(zip(attribute_keys.keys().tolist(), texts, strict=True)))

    def _questions(self, naming: Naming) -> QuestionFilling:
        filling = QuestionFilling(
            using=self._using,
            naming=naming,
            key=self._key,
            texts=self._parameters.include_justifications,
            left_out=self._coarsened.left_out,
            readers=self._readers,
            write=self._write,
            note=self._note,
            filled=(self._filled.annotation_keys, self._filled.annotator_keys),
        )
        if self._asking:
            filling.declare(self._asking, self._folder)
        return filling

    def _advance(self, campaign: Campaign, annotations: int) -> None:
        self._progress.advance(annotations, f"Writing {campaign.name}")
        self._progress.check_cancelled()

    def _pages(self, campaign: Campaign, naming: Naming) -> Any:
        rank = np.zeros(int(naming.attributes.keys[-1]) + 1 if len(naming.attributes.keys) else 1, np.int64)
        by_text = np.argsort(np.array(naming.attributes.names.to_pylist(), dtype=object), kind="stable")
        rank[naming.attributes.keys[by_text]] = np.arange(len(by_text))
        label_pages = pages(
            campaign,
            using=self._using,
            key=self._key,
            attribute_rank=rank,
            justifications=self._parameters.include_justifications,
            left_out=self._coarsened.left_out,
            readers=self._readers,
        )
        return read_ahead(self._using, label_pages)

    def _coarsen(self, campaigns: Sequence[Campaign]) -> Coarsened:
        people = people_of(campaigns, using=self._using)
        checked = check(
            people,
            k=self._parameters.k,
            earlier=self._earlier,
            leave_out_people=self._parameters.leave_out_people,
            justifications=self._justifications(),
        )
        coarsened = checked.require()
        remaining = people.origins.keys() - coarsened.left_out
        shown = shown_readers(people.languages, remaining, k=self._parameters.k)
        self._readers = shown if people.languages else None
        self._filled.profiles = profile_history.pack(coarsened, people, against=self._earlier)
        return coarsened

    def _annotators(self, annotators: AnnotatorRows) -> None:
        coarsened = self._coarsened
        for columns in annotators.pages(coarsened):
            self._write("annotators", columns)
        self._filled.privacy = coarsened.report
        self._note("annotators", [annotators.length, annotators.identities()])
        self._note("profiles", sorted(coarsened.profiles.items()))
        self._note("privacy", coarsened.report.as_json())

    def _write(self, table: str, columns: Mapping[str, Any]) -> None:
        self._writing.submit(partial(self._writers[table].write, columns))

    def _justifications(self) -> str:
        annotations = Annotation.objects.using(self._using).filter(campaign__study=self._study)
        self._filled.justifications = annotations.exclude(justification="").exists()
        texts = Judgement.objects.using(self._using).filter(
            annotation__campaign__in=self._asking, text__isnull=False
        )
        if not self._filled.justifications and not texts.exists():
            return "none_written"
        return "released" if self._parameters.include_justifications else "withheld"

    def _remember(self, page: Page) -> None:
        """Keep which rows were released, and make them part of the digest whatever their order here."""
        rows, judgements, boxes = page.annotations, page.judgements, page.boxes
        self._filled.annotation_keys.add(rows["pk"])
        self._filled.annotator_keys.add(np.unique(rows["annotator"]))
        self._hash(rows, rows["pk"])
        of_annotation = {"annotation": rows["pk"][judgements["owner"]]}
        self._hash({**judgements, **of_annotation}, judgements["pk"])
        self._hash({**boxes, "judgement": judgements["pk"][boxes["owner"]]}, boxes["pk"])
        if page.languages is not None:
            self._note("languages", sorted(zip(rows["pk"].tolist(), page.languages, strict=True)))
        if page.justifications is not None:
            self._note("justifications", sorted(zip(rows["pk"].tolist(), page.justifications, strict=True)))

    def _hash(self, columns: Mapping[str, NDArray[Any]], keys: NDArray[np.int64]) -> None:
        order = np.argsort(keys)
        for name, values in columns.items():
            if name != "owner":
                self._digest.update(f"{name}:{len(values)}\n".encode())
                self._digest.update(values[order].tobytes())

    def _note(self, name: str, value: Any) -> None:
        text = json.dumps([name, value], ensure_ascii=False, sort_keys=True, default=str)
        self._digest.update(text.encode("utf-8", "surrogatepass"))
