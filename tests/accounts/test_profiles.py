"""Annotators' self-descriptions."""

import pytest

from accounts import profiles
from accounts.models import AnnotatorProfile
from accounts.pages.forms import ProfileForm
from accounts.profile_codes import codes
from foundation.errors import DomainError


def test_every_field_is_optional(annotator):
    profile = profiles.describe(annotator=annotator)
    assert [getattr(profile, name) for name in AnnotatorProfile.FIELDS] == ["", "", "", "", "", []]


def test_a_new_profile_clears_the_fields_left_out(annotator):
    profiles.describe(annotator=annotator, gender="Woman", nationality="Peru")
    profiles.describe(annotator=annotator, nationality="Peru")
    profile = profiles.of(annotator)
    assert (profile.gender, profile.nationality) == ("", "PER")
    assert profile.words == {"nationality": "Peru"}


def test_languages_are_tidied_and_named_once(annotator):
    profile = profiles.describe(annotator=annotator, languages=[" Quechua ", "Spanish", "quechua", ""])
    assert profile.languages == ["qu", "es"]
    assert profile.words == {"languages": ["Quechua", "Spanish"]}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"gender": "x" * 61}, "gender"),
        ({"age_band": "12-14"}, "age_band"),
        ({"languages": ["x" * 61]}, "languages"),
        ({"languages": [f"tongue {n}" for n in range(21)]}, "languages"),
    ],
)
def test_invalid_values_are_refused_by_field_and_nothing_is_written(annotator, said, field):
    with pytest.raises(DomainError) as caught:
        profiles.describe(annotator=annotator, **said)
    assert list(caught.value.fields) == [field]
    assert not AnnotatorProfile.objects.exists()


def test_the_form_takes_any_word_and_suggests_some(annotator):
    form = ProfileForm(
        {"gender": "my own word", "nationality": "Velmari", "languages": "Quechua, Spanish"},
        instance=profiles.of(annotator),
    )
    assert form.is_valid(), form.errors
    profile = form.describe()
    assert profile.languages == ["qu", "es"]
    assert (profile.gender, profile.nationality) == ("", "")
    assert profile.words["gender"] == "my own word"
    rendered = form.as_p()
    assert '<option value="Peru">' in rendered
    assert '<option value="Woman">' in rendered


def test_the_form_shows_what_was_said_before(annotator):
    profiles.describe(annotator=annotator, languages=["Quechua", "Spanish"])
    assert 'value="Quechua, Spanish"' in str(ProfileForm(instance=profiles.of(annotator))["languages"])


def test_suggestions_are_the_countries_of_iso_3166_with_kosovo_and_the_sub_regions_of_m49():
    assert len(codes.labels("nationality")) == len(set(codes.labels("nationality"))) == 250
    assert len(set(codes.labels("region_of_origin"))) == 17
