"""Marks as annotations of Label Studio, joined column by column because a release has millions of them.

Each text equals what `annotation.label_studio.format.writer.annotation_of` returns for the same answer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from annotation.label_studio.format.interface import IMAGE, NO, YES
from annotation.label_studio.format.writer import result_of

_PLACE = "\N{REPLACEMENT CHARACTER}"  # a placeholder in a template for the text of each row


def _template(control: str, kind: str, value: Mapping[str, Any], **further: Any) -> list[str]:
    """Return a result as the constant pieces of text between its values, and the number and place of its id."""
    result = result_of(control, IMAGE, kind, dict(value)) | further
    text = orjson.dumps(result).decode()[:-1] + f',"id":"{_PLACE}-{_PLACE}"}}'
    return text.replace(f'"{_PLACE}"', _PLACE).split(_PLACE)


_PRESENT = _template("present", "choices", {"choices": [_PLACE]})
_NONE = _template("none_of_the_above", "choices", {"choices": [_PLACE]})
_ANNOTATOR = _template("annotator", "textarea", {"text": [_PLACE]})
_BOX_VALUE = {
    **dict.fromkeys(("x", "y", "width", "height"), _PLACE),
    "rotation": 0,
    "rectanglelabels": [_PLACE],
}
_BOX = _template("box", "rectanglelabels", _BOX_VALUE, image_rotation=0)
_BOX_SIZED = _template(
    "box", "rectanglelabels", _BOX_VALUE, image_rotation=0, original_width=_PLACE, original_height=_PLACE
)


def mark_texts(
    annotations: pa.RecordBatch, judgements: pa.Table, boxes: pa.Table | None, *, sizes: NDArray[np.int64]
) -> pa.Array:
    """Return each annotation as JSON.

    `annotations` and `judgements` are in the order of their numbers, `boxes` in the order of their judgements; `sizes`:
    width and height of each annotation's image, 0 if unknown.
    """
    numbers = annotations["annotation"].to_numpy()
    owner = np.searchsorted(numbers, judgements["annotation"].to_numpy())
    present = judgements["present"].to_numpy().astype(bool)
    texts = _quoted(judgements["attribute"])
    ticked = np.bincount(owner[present], minlength=len(numbers))
    names = numbers.astype(str)
    drawn: NDArray[np.int64] = np.zeros(len(numbers), dtype=np.int64)
    rectangles: Any = ""
    if boxes is not None and len(boxes):
        of_judgement = np.searchsorted(judgements["judgement"].to_numpy(), boxes["judgement"].to_numpy())
        drawn_rows = np.flatnonzero(present[of_judgement])  # an attribute that was not ticked has no evidence
        of = owner[of_judgement[drawn_rows]]
        drawn = np.bincount(of, minlength=len(numbers))
        place = 1 + np.arange(len(of)) - (np.cumsum(drawn) - drawn)[of]
        values = [
            *(_number(boxes[side].to_numpy()[drawn_rows] * 100) for side in ("x", "y", "width", "height")),
            texts.take(pa.array(of_judgement[drawn_rows])),
        ]
        rectangles = _grouped(_boxes(values, sizes[of], names[of], place), drawn, "")
    chosen = _grouped(texts.filter(pa.array(present)), ticked, ",")
    present_texts = _filled(_PRESENT, [chosen], names, np.zeros(len(numbers), dtype=np.int64))
    before = (ticked > 0) + drawn  # results
    none = annotations["none_of_the_above"]
    none_answers = pc.if_else(none, f'"{YES}"', f'"{NO}"')
    annotator_places = before + pc.is_valid(none).to_numpy(zero_copy_only=False)
    return pc.binary_join_element_wise(
        '{"result":[',
        pc.if_else(pa.array(ticked > 0), present_texts, ""),
        rectangles,
        pc.fill_null(_filled(_NONE, [none_answers], names, before), ""),
        _filled(_ANNOTATOR, [_quoted(annotations["annotator"])], names, annotator_places, end=""),
        '],"was_cancelled":false,"ground_truth":false',
        pc.fill_null(
            pc.binary_join_element_wise(',"lead_time":', annotations["active_seconds"].cast(pa.string()), ""),
            "",
        ),
        "}",
        "",
    )


def _boxes(
    values: list[Any], sizes: NDArray[np.int64], names: NDArray[np.str_], place: NDArray[np.int64]
) -> Any:
    sized = sizes.min(axis=1) > 0
    sides = [_number(sizes[:, side]) for side in (0, 1)]
    return pc.if_else(
        pa.array(sized),
        _filled(_BOX_SIZED, [*values, *sides], names, place),
        _filled(_BOX, values, names, place),
    )


def _filled(
    template: list[str],
    values: list[Any],
    names: NDArray[np.str_],
    place: NDArray[np.int64],
    *,
    end: str = ",",
) -> Any:
    """Put values, the annotation's number and the result's place between the pieces of a template."""
    parts: list[Any] = [template[0]]
    for value, piece in zip([*values, pa.array(names), _number(place)], template[1:], strict=True):
        parts += [value, piece]
    return pc.binary_join_element_wise(*parts, end, "")


def _grouped(texts: Any, counts: NDArray[np.int64], between: str) -> pa.Array:
    """Join texts, given the number of texts of each annotation."""
    offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), texts), between)


def _number(values: NDArray[Any]) -> pa.Array:
    return pa.array(values).cast(pa.string())


def _quoted(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return texts as JSON; each distinct text is encoded once."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = column.dictionary_encode()
    texts = [orjson.dumps(text).decode() for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)
