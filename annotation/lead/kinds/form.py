"""The form of a declaration: its fields are derived from the declaration, and errors are shown at their fields."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from annotated_types import MinLen
from django import forms
from django.forms import BoundField

from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.problems import Fault
from annotation.kinds.study_kinds import KindInvalid, OfferedMeasure
from annotation.lead.kinds.changes import NOUNS, DraftChange, changed
from annotation.lead.kinds.draft import (
    QUESTION_TYPES,
    Draft,
    Leaf,
    Shape,
    labels_of,
    leaves,
    names_of,
    read,
    referred,
    token,
    written,
)
from annotation.lead.kinds.form_parts import FormRow, Issue, QuestionCard, RowList
from annotation.lead.kinds.screen import sound_kind
from foundation import languages
from foundation.parameters import Declaration

_LINES = {"description": 2, "guidelines": 8, "guidelines_in": 8}
_HIDDEN = {"type", "public_name", "public_help"}
LANGUAGE_NAMES = {code: language.english_name for code, language in languages.LANGUAGES.items()}
_SEVERAL = ("together", "differ", "order")  # fields about several stimuli
_PLACED = {"scale", "choice", "text", "marks"}
# The declaration has better messages than pydantic for wrong types and limits.
_SAID_BY_TYPE = {"value_error", "missing", "too_short", "too_long", "extra_forbidden"}


class DeclaredField(forms.Field):
    """A field that accepts any input: the declaration checks it."""

    def clean(self, value: Any) -> Any:
        return value


class KindForm(forms.Form):
    """A draft as a form. `action` is the button that was pressed."""

    use_required_attribute = False

    def __init__(self, draft: Draft, *, fixed_key: bool = False) -> None:
        self.draft, self.fixed_key = draft, fixed_key
        self.change = DraftChange()
        self.part_errors: dict[str, list[str]] = {}
        super().__init__(written(draft), auto_id="id_%s")
        self.leaves = {leaf.path: leaf for leaf in leaves(draft)}
        self.fields = {path: self._field(leaf) for path, leaf in self.leaves.items()}

    @classmethod
    def posted(cls, data: Any, *, fixed_key: bool = False) -> "KindForm":
        """Return the form that was sent, changed as its button asks."""
        draft = read(data)
        change = changed(draft, data.get("action", ""))
        form = cls(draft, fixed_key=fixed_key)
        form.change = change
        return form

    def content(self) -> bytes:
        """Return the file that declares this draft."""
        return json.dumps(self.draft).encode()

    # Errors.

    def check(self, *, unfilled: bool) -> list[Fault]:
        """Show problems beside the fields (with `unfilled`, also missing values); return all problems."""
        try:
            study_kinds.from_file(self.content())
        except KindInvalid as error:
            problems = list(error.problems)
        else:
            return []
        for problem in problems:
            if unfilled or problem.code not in {"missing", "too_short"}:
                self.place(problem)
        return problems

    def place(self, problem: Fault) -> None:
        """Show a problem beside its field, at its part, or above the form."""
        path = list(map(str, problem.path))
        text = self._sentence(problem)
        for length in range(len(path), 0, -1):
            name = ".".join(path[:length])
            if name in self.fields:
                self.add_error(name, text)
                return
            if self._is_part(name):
                self.part_errors.setdefault(name, []).append(text)
                return
        self.add_error(None, text)

    def is_valid(self) -> bool:
        return not self.check(unfilled=True)

    @property
    def issues(self) -> Iterator[Issue]:
        """Every error with its place."""
        for name, texts in self.errors.items():
            named = (f"id_{name}", self._label(name)) if name in self.fields else ("", "")
            yield from (Issue(*named, str(text)) for text in texts)
        for name, sentences in self.part_errors.items():
            yield from (Issue(f"part_{name}", self._label(name), text) for text in sentences)

    def _is_part(self, name: str) -> bool:
        return name.rpartition(".")[2] in NOUNS or name.rpartition(".")[2].isdecimal()

    def _sentence(self, problem: Fault) -> str:
        if problem.code == "missing":
            return "Fill in this field."
        path = ".".join(map(str, problem.path))
        declared = self._declared(path)
        if problem.code == "too_short" and declared is not None:
            return f"There must be at least {declared.limit(MinLen, 'min_length')}."
        if problem.code == "too_long" and declared is not None:
            return f"There can be at most {declared.longest}."
        if problem.code not in _SAID_BY_TYPE and declared is not None:
            return f"This must be {declared.expected}."
        return f"{problem.text[:1].upper()}{problem.text[1:]}."

    def _declared(self, path: str) -> Declaration | None:
        if path in self.leaves:
            return self.leaves[path].declared
        steps = path.split(".")
        if len(steps) == 3 and steps[0] == "questions":
            model: Any = QUESTION_TYPES[self.draft["questions"][int(steps[1])]["type"]]
        elif len(steps) == 1:
            model = Kind
        else:
            return None
        return (
            Declaration(steps[-1], model.model_fields[steps[-1]]) if steps[-1] in model.model_fields else None
        )

    def _label(self, path: str) -> str:
        """Return the name of a field or a part in the list of errors."""
        names, steps = [], path.split(".")
        for step, place in pairwise(steps):
            if place.isdecimal():
                names.append(f"{NOUNS[step]} {int(place) + 1}")
        if path in self.fields:
            names.append(str(self.fields[path].label))
        elif steps[-1] in NOUNS:
            declared = self._declared(path)
            names.append(declared.label if declared else steps[-1])
        return ", ".join(names)

    @property
    def has_errors(self) -> bool:
        return bool(self.errors or self.part_errors)

    # Fields.

    def _field(self, leaf: Leaf) -> DeclaredField:
        declared = leaf.declared
        label = declared.label
        if leaf.language:
            label = f"{label} ({LANGUAGE_NAMES[leaf.language]})"
        may_be_empty = bool(leaf.language) and not declared.info.is_required()
        field = DeclaredField(label=label, help_text=declared.help, required=not may_be_empty)
        field.widget = self._widget(leaf)
        field.widget.is_required = False
        if leaf.language:
            field.widget.attrs["lang"] = leaf.language
        if self.fixed_key and leaf.path == "key":
            field.widget.attrs["readonly"] = True
            field.help_text = "The key of a kind does not change. To use another key, copy the kind."
        return field

    def _widget(self, leaf: Leaf) -> forms.Widget:
        declared = leaf.declared
        if leaf.path in _HIDDEN or leaf.name == "type":
            return forms.HiddenInput()
        if leaf.refers:
            return self._reference(leaf)
        if declared.words:
            choices = [(token(value), text) for value, text in declared.words.items()]
            if leaf.is_list:
                return forms.CheckboxSelectMultiple(choices=choices)
            if leaf.name == "shape":
                choices = [("", "None"), *choices]
            return forms.Select(choices=choices)
        if bool in leaf.types:
            return forms.CheckboxInput()
        if int in leaf.types:
            limits = {"min": declared.least, "max": declared.most, "inputmode": "numeric"}
            return forms.NumberInput({name: value for name, value in limits.items() if value is not None})
        if float in leaf.types:
            return forms.NumberInput({"step": "any", "min": declared.least})
        if leaf.name in _LINES:
            return forms.Textarea({"rows": _LINES[leaf.name]})
        plain = (
            {"autocapitalize": "none", "spellcheck": "false"} if leaf.name in {"key", "name", "code"} else {}
        )
        return forms.TextInput(plain if leaf.path != "name" else {})

    def _reference(self, leaf: Leaf) -> forms.Widget:
        values = referred(leaf, self.draft)
        if leaf.name == "question":
            choices = [(str(place), f"After {name}") for place, name in enumerate(values)]
            return forms.Select(choices=[("", "Always"), *choices])
        question = self.draft["questions"][int(leaf.path.split(".")[1])]
        if leaf.name == "answers":
            names = names_of(self.draft)
            earlier = question["when"].get("question")
            labels = labels_of(self.draft["questions"][names.index(earlier)]) if earlier in names else []
        else:
            labels = labels_of(question)
        return forms.CheckboxSelectMultiple(choices=[(str(place), text) for place, text in enumerate(labels)])

    # Parts of the page.

    def _bound(self, *paths: str) -> tuple[BoundField, ...]:
        return tuple(self[path] for path in paths if path in self.fields)

    def _under(self, prefix: str) -> list[str]:
        return [path for path in self.fields if path.startswith(prefix)]

    @property
    def about(self) -> tuple[BoundField, ...]:
        """The fields that name and describe the kind."""
        apart = {"unit", "measures", "guidelines", "guidelines_in"}
        paths = [path for path in self.fields if path.partition(".")[0] not in {*NOUNS, *apart}]
        return self._bound(
            *(path for path in paths if not path.startswith("stimuli.") and path not in _HIDDEN)
        )

    @property
    def hidden(self) -> tuple[BoundField, ...]:
        return self._bound("public_name", "public_help")

    @property
    def guideline_fields(self) -> tuple[BoundField, ...]:
        return self._bound("guidelines", *self._under("guidelines_in."))

    @property
    def stimulus_fields(self) -> tuple[BoundField, ...]:
        paths = self._under("stimuli.")
        return self._bound(*(path for path in paths if path.partition(".")[2] not in _SEVERAL))

    @property
    def several(self) -> tuple[BoundField, ...]:
        """The fields about several stimuli: none if a screen shows one."""
        stimuli = self.draft.get("stimuli", {})
        is_set = any(stimuli.get(name) not in (None, [], "fixed") for name in _SEVERAL)
        return self._bound(*(f"stimuli.{name}" for name in _SEVERAL)) if self._many or is_set else ()

    @property
    def _many(self) -> bool:
        return bool(self.draft.get("stimuli", {}).get("most") != 1)

    @property
    def questions(self) -> list[QuestionCard]:
        rows = self.draft["questions"]
        return [self._card(place, row, is_last=place == len(rows) - 1) for place, row in enumerate(rows)]

    def _card(self, place: int, row: Draft, *, is_last: bool) -> QuestionCard:
        path = f"questions.{place}"
        model = QUESTION_TYPES[row["type"]]
        lists = [name for name, info in model.model_fields.items() if Shape.of(info).rows]
        parts = {"when", "region", "label", *lists}
        options = [
            field
            for field in self._under(f"{path}.")
            if field.split(".")[2] not in {*parts, "type", "name", "each"}
        ]
        texts = [*self._under(f"{path}.label."), f"{path}.name"]
        repetition = [f"{path}.each"] if self._many or row.get("each") else []
        medium = self.draft.get("stimuli", {}).get("medium")
        placed = "region" in row or (medium == "image" and row["type"] in _PLACED)
        return QuestionCard(
            path=path,
            number=place + 1,
            title=(row.get("label") or {}).get("en", ""),
            type=Declaration("type", model.model_fields["type"]),
            hidden=self._bound(f"{path}.type"),
            texts=self._bound(*texts),
            rows=self._rows(f"{path}.{lists[0]}", row.get(lists[0], []), model) if lists else None,
            options=self._bound(*options),
            repetition=self._bound(*repetition),
            when=self._bound(*self._under(f"{path}.when.")) if place else (),
            place=self._bound(*self._under(f"{path}.region.")) if placed else (),
            errors=self.part_errors.get(path, ()),
            is_last=is_last,
        )

    def _rows(self, path: str, rows: Sequence[Draft], model: Any) -> RowList:
        name = path.rpartition(".")[2]
        declared = Declaration(name, model.model_fields[name])
        return RowList(
            path=path,
            declared=declared,
            noun=NOUNS[name],
            rows=tuple(
                FormRow(
                    path=f"{path}.{place}",
                    noun=NOUNS[name],
                    number=place + 1,
                    fields=self._bound(*self._under(f"{path}.{place}.")),
                    errors=self.part_errors.get(f"{path}.{place}", ()),
                    is_last=place == len(rows) - 1,
                )
                for place in range(len(rows))
            ),
            full=declared.longest is not None and len(rows) >= declared.longest,
            errors=self.part_errors.get(path, ()),
        )

    @property
    def questions_full(self) -> bool:
        return len(self.draft["questions"]) >= (
            Declaration("questions", Kind.model_fields["questions"]).longest or 0
        )

    @property
    def question_errors(self) -> Sequence[str]:
        return self.part_errors.get("questions", ())

    @property
    def rules(self) -> RowList:
        return self._rows("standard_rules", self.draft.get("standard_rules", []), Kind)

    @property
    def question_types(self) -> Iterator[Declaration]:
        """The types of question that a study can ask: attributes are planned for built-in kinds alone."""
        present = {row["type"] for row in self.draft["questions"]}
        for name, model in QUESTION_TYPES.items():
            if name != "marks" or name in present:
                yield Declaration("type", model.model_fields["type"])

    @property
    def offered(self) -> list[tuple[OfferedMeasure, bool]]:
        """Every measure with whether it is chosen; those that can be computed first."""
        chosen = self.draft.get("measures", [])
        kind, _ = sound_kind(self.draft)
        measures = study_kinds.measures_for(kind) if kind else []
        reason = (
            "Only built-in kinds of campaign can have this measure." if kind else "Fill in a question first."
        )
        names = {measure.name for measure in measures}
        measures += [OfferedMeasure(name, name, "", reason=reason) for name in chosen if name not in names]
        measures.sort(key=lambda measure: not measure.reads)
        return [(measure, measure.name in chosen) for measure in measures]

    @property
    def unread(self) -> list[str]:
        """The questions that no chosen measure reads."""
        chosen = {name for measure, is_chosen in self.offered if is_chosen for name in measure.reads}
        kind, _ = sound_kind(self.draft)
        questions = kind.questions if kind else ()
        return [question.name for question in questions if question.name not in chosen]
