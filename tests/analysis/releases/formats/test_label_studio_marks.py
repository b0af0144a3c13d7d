"""Label Studio annotations built by columns, compared with those written one by one."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.releases.formats.label_studio_marks import mark_texts
from annotation.label_studio.format.writer import Answer, Rectangle, Screen, annotation_of

pytestmark = pytest.mark.database_free

TEXTS = st.sampled_from(
    ["tall hat", "kite", 'a "quoted" drum', "back\\slash", "größer", "=1+1", "line\nbreak", "�"]
)
SIDES = st.floats(0, 1, allow_nan=False)
RECTANGLES = st.builds(Rectangle, SIDES, SIDES, SIDES, SIDES)
# Of each attribute: whether it was ticked, and what was drawn.
ASKED = st.dictionaries(TEXTS, st.tuples(st.booleans(), st.lists(RECTANGLES, max_size=3)), max_size=4)
ANSWERS = st.lists(
    st.tuples(
        ASKED,
        st.sampled_from([None, True, False]),
        st.sampled_from([None, 0.0, 12.5, 3600.0]),
        TEXTS,
        st.sampled_from([None, (640, 480), (8, 8)]),
    ),
    min_size=1,
    max_size=6,
)


def one_by_one(answers):
    for number, (asked, none, seconds, annotator, size) in enumerate(answers, start=7):
        screen = Screen(0, tuple(asked), "image", size=size)
        ticked = {text: boxes for text, (present, boxes) in asked.items() if present}
        yield annotation_of(screen, Answer(number, annotator, ticked, none, seconds=seconds))


def tables(answers):
    annotations, judgements, boxes = [], [], []
    for number, (asked, none, seconds, annotator, _) in enumerate(answers, start=7):
        annotations.append((number, none, seconds, annotator))
        for text, (present, drawn) in asked.items():
            key = 100 + len(judgements)
            judgements.append((number, key, text, present))
            boxes += [(key, box.x, box.y, box.width, box.height) for box in drawn]
    return (
        columns(
            annotations,
            annotation=pa.int64(),
            none_of_the_above=pa.bool_(),
            active_seconds=pa.float64(),
            annotator=pa.string(),
        ),
        columns(
            judgements, annotation=pa.int64(), judgement=pa.int64(), attribute=pa.string(), present=pa.bool_()
        ),
        columns(
            boxes,
            judgement=pa.int64(),
            x=pa.float64(),
            y=pa.float64(),
            width=pa.float64(),
            height=pa.float64(),
        ),
    )


def columns(rows, **types):
    values = zip(*rows, strict=True) if rows else [[] for _ in types]
    return pa.table(
        {name: pa.array(column, kind) for (name, kind), column in zip(types.items(), values, strict=True)}
    )


@given(answers=ANSWERS)
def test_many_annotations_equal_those_written_one_by_one(answers):
    annotations, judgements, boxes = tables(answers)
    sizes = np.array([size or (0, 0) for *_, size in answers])
    (batch,) = annotations.combine_chunks().to_batches()
    texts = mark_texts(batch, judgements, boxes, sizes=sizes).to_pylist()
    assert [json.loads(text) for text in texts] == list(one_by_one(answers))


def test_without_any_box_nothing_is_drawn():
    annotations, judgements, _ = tables([({"kite": (True, [])}, None, None, "R1", (8, 8))])
    (batch,) = annotations.to_batches()
    (text,) = mark_texts(batch, judgements, None, sizes=np.array([[8, 8]])).to_pylist()
    assert [one["from_name"] for one in json.loads(text)["result"]] == ["present", "annotator"]
