"""Batches that become smaller when memory runs out."""

import pytest

from analysis.scoring.backends.memory import Batches
from foundation.errors import DomainError

pytestmark = [pytest.mark.models, pytest.mark.database_free]


def doubling(limit: int, calls: list[int], error: Exception):
    def call(items):
        calls.append(len(items))
        if len(items) > limit:
            raise error
        return [2 * one for one in items]

    return call


def errors():
    import torch

    return [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
        MemoryError(),
    ]


@pytest.mark.parametrize("which", range(3))
def test_a_batch_is_halved_until_it_fits_and_stays_small(which):
    batches, calls = Batches(8), []
    assert batches.map(doubling(3, calls, errors()[which]), list(range(10))) == list(range(0, 20, 2))
    assert calls == [8, 4, 2, 2, 2, 2, 2]
    calls.clear()
    batches.map(doubling(3, calls, errors()[which]), [1, 2, 3])
    assert calls == [2, 1]


def test_a_single_item_that_does_not_fit_is_reported():
    with pytest.raises(DomainError, match="not enough memory for a single item"):
        Batches(4).map(doubling(0, [], MemoryError()), [1, 2])


def test_other_failures_of_a_model_are_reported_in_one_sentence():
    with pytest.raises(DomainError, match="The model failed: shapes differ"):
        Batches(4).map(doubling(0, [], RuntimeError("shapes differ\nat line 3")), [1])
