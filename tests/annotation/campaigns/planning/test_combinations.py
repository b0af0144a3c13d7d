"""Screens of several stimuli: each is shown equally often and in each position, for any order of rows."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.planning.combinations import Arrangement, Candidate, screens
from annotation.kinds.stimuli import Stimuli

pytestmark = pytest.mark.database_free

MODELS = ("elm", "fir", "oak", "yew")


def arrangement(least=2, most=2, *, differ="model", order="counterbalanced", cap=1_000, seed=1):
    stimuli = Stimuli(
        medium="image", least=least, most=most, together=("prompt",), differ=differ, order=order
    )
    return Arrangement(stimuli, cap, seed)


def sets_of(counts, *, own_traits=False):
    """Return sets of candidates; `counts` holds the number of images for each set and model."""
    return {
        f"prompt {number}": [
            Candidate(key := f"{model}/{number}/{index}", key if own_traits else model)
            for model, count in zip(MODELS, models, strict=False)
            for index in range(count)
        ]
        for number, models in enumerate(counts)
    }


numbers_of_images = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5)
sizes = st.sampled_from([(2, 2), (3, 3), (3, 4)])


def traits(screen):
    return tuple(sorted(candidate.trait for candidate in screen))


@given(numbers_of_images, sizes, st.integers(1, 40), st.integers(0, 9))
def test_no_two_of_a_screen_share_a_model_and_no_screen_comes_twice(counts, size, cap, seed):
    sets = sets_of(counts)
    planned = screens(sets, arrangement(*size, cap=cap, seed=seed))
    prompts = {candidate.key: name for name, members in sets.items() for candidate in members}
    assert len({frozenset(screen) for screen in planned}) == len(planned)
    for screen in planned:
        assert len(set(traits(screen))) == len(screen)
        assert len({prompts[candidate.key] for candidate in screen}) == 1
        assert size[0] <= len(screen) <= size[1]


@given(numbers_of_images, sizes, st.integers(1, 40))
def test_a_set_gives_every_combination_up_to_the_most(counts, size, cap):
    sets = sets_of(counts)
    planned = screens(sets, arrangement(*size, cap=cap))
    for name, models in zip(sets, counts, strict=True):
        there = [count for count in models if count]
        number = min(size[1], len(there))
        ways = 0
        if number >= size[0]:
            for chosen in combinations(there, number):
                product = 1
                for count in chosen:
                    product *= count
                ways += product
        of_set = [screen for screen in planned if screen[0] in sets[name]]
        assert len(of_set) == min(ways, cap)


@given(numbers_of_images, sizes, st.integers(1, 40), st.integers(0, 9))
def test_each_model_has_each_place_equally_often(counts, size, cap, seed):
    planned = screens(sets_of(counts), arrangement(*size, cap=cap, seed=seed))
    for combination in {traits(screen) for screen in planned}:
        alike = [screen for screen in planned if traits(screen) == combination]
        for place in range(len(combination)):
            first_counts = Counter(screen[place].trait for screen in alike)
            shown = [first_counts[trait] for trait in combination]
            assert max(shown) - min(shown) <= 1


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 9))
def test_pairs_of_models_are_drawn_equally_often_over_the_plan(sets_count, cap, seed):
    planned = screens(sets_of([[3, 3, 3, 3]] * sets_count), arrangement(cap=cap, seed=seed))
    pairs = Counter(traits(screen) for screen in planned)
    counts = [pairs[pair] for pair in combinations(MODELS, 2)]
    assert max(counts) - min(counts) <= 1


def test_images_of_a_model_are_drawn_equally_often():
    planned = screens(sets_of([[3, 3]]), arrangement(cap=3))
    assert set(Counter(candidate.key for screen in planned for candidate in screen).values()) == {1}


@given(numbers_of_images, sizes, st.integers(1, 12), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(counts, size, cap, chance):
    sets = sets_of(counts)
    shuffled = {name: chance.sample(members, len(members)) for name, members in reversed(sets.items())}
    assert screens(shuffled, arrangement(*size, cap=cap)) == screens(sets, arrangement(*size, cap=cap))


def test_another_seed_draws_and_orders_otherwise():
    sets = sets_of([[3, 3, 3, 3]] * 4)
    assert screens(sets, arrangement(cap=5, seed=1)) != screens(sets, arrangement(cap=5, seed=2))


@given(st.integers(2, 9), st.integers(2, 4), st.integers(1, 30))
def test_where_images_may_be_of_one_model_each_has_each_place_equally_often(images, size, cap):
    sets = sets_of([[images]], own_traits=True)
    planned = screens(sets, arrangement(size, size, differ=None, cap=cap))
    assert len(planned) == min(cap, comb(images, size))
    assert len({frozenset(screen) for screen in planned}) == len(planned)
    place_counts = Counter(
        (candidate.key, place) for screen in planned for place, candidate in enumerate(screen)
    )
    for key in {candidate.key for screen in planned for candidate in screen}:
        numbers = [place_counts[key, place] for place in range(size)]
        assert max(numbers) - min(numbers) <= 1


def test_sampled_combinations_show_each_image_equally_often():
    sets = sets_of([[100]], own_traits=True)
    planned = screens(sets, arrangement(4, 4, differ=None, cap=50))
    assert len(planned) == 50
    assert set(Counter(candidate.key for screen in planned for candidate in screen).values()) == {2}


def test_a_fixed_order_is_that_of_the_content_and_a_shuffled_one_is_not():
    sets = sets_of([[2, 2, 2, 2]] * 3)
    fixed = screens(sets, arrangement(4, 4, order="fixed"))
    assert all([candidate.trait for candidate in screen] == list(MODELS) for screen in fixed)
    shuffled = screens(sets, arrangement(4, 4, order="shuffled"))
    assert len({tuple(candidate.trait for candidate in screen) for screen in shuffled}) > 10


def test_the_next_screen_does_not_reveal_the_prompt_of_the_one_before():
    planned = screens(sets_of([[2, 2]] * 30), arrangement())
    prompts = [screen[0].key.split("/")[1] for screen in planned]
    assert prompts != sorted(prompts)
