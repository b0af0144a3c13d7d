"""One box per object, from several annotators' boxes: for display only."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.boxes.geometry import CORNERS, boxes_of, match
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers


def consensus_boxes(boxes: Any) -> Result:
    """Consensus boxes: the coordinate-wise median of matched boxes.

    In each (model, image, attribute) the drawing with the most boxes (the first if several have as many) is the
    reference; the boxes of every other drawing are matched to it (Hungarian, IoU > 0). Table: model, image, attribute,
    x0, y0, x1, y1, drawn_by (matched boxes, including the reference's own box), drawings (the number of drawings with
    boxes of the attribute). Input as in `box_agreement`; a box without area is left out and counted.
    """
    data = boxes_of(boxes)
    number = data.number
    rows: list[tuple[int, Array, int, int]] = []
    ends = np.append(np.flatnonzero(np.diff(data.drawing_unit, prepend=-1)), len(data.drawing_unit))
    for start, stop in pairwise(ends):
        reference = int(start + np.argmax(number[start:stop]))
        members = {
            int(position): [int(position)]
            for position in range(data.starts[reference], data.starts[reference + 1])
        }
        for drawing in range(start, stop):
            if drawing != reference:
                for reference_box, box, overlap in zip(*match(data, reference, drawing), strict=True):
                    if overlap > 0:
                        members[int(reference_box)].append(int(box))
        unit = int(data.drawing_unit[start])
        rows += [
            (unit, np.median(data.corners[boxes_], axis=0), len(boxes_), int(stop - start))
            for boxes_ in members.values()
        ]
    unit_of = np.array([row[0] for row in rows], dtype=int)
    corners = np.array([row[1] for row in rows]).reshape(-1, 4)
    table = pd.DataFrame(
        {
            "model": labels(data.model_names[data.unit_model[unit_of]]),
            "image": labels(data.image_names[data.unit_image[unit_of]]),
            "attribute": labels(data.attribute_names[data.unit_attribute[unit_of]]),
            **{name: numbers(corners[:, place]) for place, name in enumerate(CORNERS)},
            "drawn_by": counts([row[2] for row in rows]),
            "drawings": counts([row[3] for row in rows]),
        }
    )
    return Result(
        table=table,
        used=len(data.corners),
        dropped={"box_without_area": data.without_area},
        method="coordinate-wise median of boxes matched to the drawing with most boxes",
        notes={"clipped_share": data.clipped_share},
    )
