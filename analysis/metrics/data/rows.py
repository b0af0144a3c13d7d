"""Single judgements: their codes, and their order, which is computed only when it is needed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.metrics.data.arrays import Array

BITS = 63  # of a number that sorts as a whole


@dataclass(frozen=True, eq=False)
class Rows:
    """Single judgements, unsorted. They are sorted only when single judgements are needed: counting units needs no
    order, and sorting takes longer than everything else."""

    slot: Array
    """the unit, as a code with the order of units; codes may be unused"""
    slots: int
    image: Array
    annotator: Array
    annotators: int
    campaign: Array
    campaigns: int
    present: Array

    def __len__(self) -> int:
        return len(self.slot)

    @property
    def is_ordered(self) -> bool:
        """Whether the rows are already sorted."""
        return "ordered" in self.__dict__

    @cached_property
    def ordered(self) -> tuple[Array, Array, Array, Array]:
        """Unit, annotator, campaign and answer of each row, sorted by these four.

        Sorting one packed number per row is faster than sorting an index, and needs no additional memory.
        """
        bits = self._bits
        if sum(bits) >= BITS:
            order = np.lexsort((self.present, self.campaign, self.annotator, self.slot))
            columns = (self.slot, self.annotator, self.campaign, self.present)
            key, who, where, answer = (column[order] for column in columns)
            return _numbered(key), who.astype(np.int32), where.astype(np.int32), answer
        key = self._packed(np.int64)
        key <<= 1
        key |= self.present
        key.sort()
        answer = (key & 1).astype(bool)
        key >>= 1
        where = _last(key, bits[2])
        who = _last(key, bits[1])
        return _numbered(key), who, where, answer

    @property
    def _bits(self) -> list[int]:
        return [max(size - 1, 0).bit_length() for size in (self.slots, self.annotators, self.campaigns)]

    def packed(self) -> Array:
        """Unit, annotator and campaign of each row as one number; equal if all three are equal."""
        if sum(self._bits) > BITS:
            unit, annotator, campaign, _ = self.ordered
            pairs = unit.astype(np.int64) * self.annotators + annotator
            return np.asarray(pairs * self.campaigns + campaign)
        return self._packed(np.uint32 if sum(self._bits) <= 32 else np.int64)

    def _packed(self, number: type) -> Array:
        key: Array = self.slot.astype(number)
        for codes, width in ((self.annotator, self._bits[1]), (self.campaign, self._bits[2])):
            if width:
                key <<= number(width)
                key |= codes.astype(number)
        return key


def _last(key: Array, bits: int) -> Array:
    """Remove the last bits from `key`, in place, and return them."""
    if not bits:
        return np.broadcast_to(np.int32(0), len(key))
    low_bits = (key & ((1 << bits) - 1)).astype(np.int32)
    key >>= bits
    return low_bits


def _numbered(key: Array) -> Array:
    """Consecutive numbers for the distinct values of a sorted array."""
    begins = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=begins[1:])
    number = np.cumsum(begins, dtype=np.int32)
    number -= 1
    return number


@dataclass(frozen=True, eq=False)
class SlotLayout:
    """A slot for every (model, group, attribute, image of the group), in this order."""

    first_image: Array
    """per group, the first image"""
    images: Array
    """per group, the number of images"""
    image_group: Array
    width: int

    @classmethod
    def of(cls, image_group: Array, groups: int, width: int) -> "SlotLayout":
        images = np.bincount(image_group, minlength=groups)
        return cls(np.cumsum(images) - images, images, image_group, width)

    @property
    def slots(self) -> int:
        return len(self.image_group) * self.width

    @cached_property
    def step(self) -> int | None:
        """The number of images of each group if all groups have equally many: dividing by one number is ten times
        faster."""
        sizes = np.unique(self.images)
        return int(sizes[0]) if len(sizes) == 1 else None

    def of_rows(self, model: Array, image: Array, attribute: Array) -> Array:
        first_image = self.first_image[self.image_group]
        slot: Array = (first_image * (self.width - 1) + np.arange(len(first_image)))[image]
        step = self.images[self.image_group][image] if self.step is None else self.step
        slot += np.multiply(attribute, step, dtype=np.int64)
        if model.strides[0]:
            slot += np.multiply(model, self.slots, dtype=np.int64)
        return slot

    def of_slots(self, slot: Array) -> tuple[Array, Array, Array, Array]:
        """Model, group, attribute and image of slots."""
        model = slot // max(self.slots, 1)
        within = slot - model * self.slots
        group = self.image_group[within // self.width]  # a group has images × width slots
        first_image = self.first_image[group]
        within -= first_image * self.width
        attribute = within // (self.images[group] if self.step is None else max(self.step, 1))
        within -= attribute * (self.images[group] if self.step is None else self.step)
        return model, group, attribute, within + first_image
