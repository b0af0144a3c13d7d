"""A declared set of parameters, and everything derived from it."""

from argparse import ArgumentParser

import pytest
from django import forms

from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter

pytestmark = pytest.mark.database_free


class Kiln(ParameterSet):
    """Settings for firing a kiln."""

    pieces: int = parameter(3, ge=1, le=20_000, label="Pieces", help="How many pieces are fired.")
    share: float = parameter(0.5, ge=0, le=1, label="Share", help="Share of glazed pieces.")
    glaze: str = parameter(
        "ash", words={"ash": "of ash", "lead": "of lead"}, label="Glaze", help="The glaze."
    )
    slowly: bool = parameter(False, label="Slowly", help="Takes 10 % longer.")
    note: str = parameter("", max_length=5, label="Note", help="For the log.")
    marks: tuple[str, ...] = parameter((), label="Marks", help="Marks of potters.")
    limit: int | None = parameter(None, ge=1, le=9, label="Limit", help="At most so many shelves.")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"pieces": 0}, "pieces must be a whole number from 1 to 20,000, not 0."),
        ({"pieces": 20_001}, "pieces must be a whole number from 1 to 20,000, not 20,001."),
        ({"pieces": True}, "pieces must be a whole number from 1 to 20,000, not True."),
        ({"pieces": "4"}, "pieces must be a whole number from 1 to 20,000, not 4."),
        ({"share": float("nan")}, "share must be a number from 0 to 1, not nan."),
        ({"glaze": "tin"}, "glaze must be ash or lead, not tin."),
        ({"note": "longer"}, "note must be text of at most 5 characters, not longer."),
        ({"limit": 10}, "limit must be a whole number from 1 to 9, not 10."),
        (
            {"pieces": 0, "peices": 4},
            "There is no parameter peices; there are pieces, share, glaze, slowly, ",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_name(values, sentence):
    with pytest.raises(DomainError) as refusal:
        Kiln.read(values)
    assert refusal.value.message.startswith(sentence)
    assert len(refusal.value.fields) == 1
    assert next(iter(refusal.value.fields)) in values


def test_values_and_defaults_are_read():
    kiln = Kiln.read({"share": 1, "limit": None, "marks": ("a",)})
    assert kiln.model_dump() == {
        "pieces": 3, "share": 1.0, "glaze": "ash", "slowly": False, "note": "", "marks": ("a",), "limit": None,
    }  # fmt: skip


def test_fields_of_a_form_have_limits_choices_and_words():
    fields = Kiln.form_fields()
    assert [type(field) for field in fields.values()] == [
        forms.IntegerField, forms.FloatField, forms.TypedChoiceField, forms.BooleanField, forms.CharField,
        forms.CharField, forms.IntegerField,
    ]  # fmt: skip
    pieces, glaze = fields["pieces"], fields["glaze"]
    assert (pieces.min_value, pieces.max_value, pieces.initial) == (1, 20_000, 3)
    assert (pieces.label, pieces.help_text, pieces.required) == (
        "Pieces",
        "How many pieces are fired.",
        False,
    )
    assert list(glaze.choices) == [("ash", "of ash"), ("lead", "of lead")]
    assert fields["note"].max_length == 5
    assert list(Kiln.form_fields(["limit"])) == ["limit"]


def test_options_of_a_command_are_parsed_and_only_those_used_are_chosen():
    parser = ArgumentParser()
    Kiln.add_options(parser)
    options = vars(parser.parse_args(["--pieces", "7", "--slowly", "--mark", "a", "--mark", "b", "c"]))
    assert Kiln.chosen(options) == {"pieces": 7, "slowly": True, "marks": ["a", "b", "c"]}
    help_text = " ".join(parser.format_help().split())
    assert "How many pieces are fired. Default: 3." in help_text
    assert "Takes 10 % longer." in help_text


def test_the_table_of_the_documentation_has_defaults_and_values():
    lines = Kiln.markdown().splitlines()
    assert lines[2] == "| `pieces` | `3` | a whole number from 1 to 20,000 | How many pieces are fired. |"
    assert lines[4] == "| `glaze` | `ash` | `ash`, `lead` | The glaze. |"
    assert Kiln.markdown(options=True).splitlines()[7].startswith("| `--mark` |  | a list |")
