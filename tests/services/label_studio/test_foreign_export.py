"""A real Label Studio's export of another interface can be imported: stars, and “none” among the choices."""

import json

import pytest

from annotation.imports.importer import ImportTarget
from annotation.label_studio.client.rest import Client
from annotation.label_studio.format.importer import import_export
from annotation.label_studio.format.inventory import suggestions, take_inventory
from annotation.label_studio.format.names import parse_names
from annotation.label_studio.format.options import ExportOptions
from annotation.models import Annotation, Campaign, Judgement
from tests.services.label_studio.annotators import hands_of

pytestmark = [pytest.mark.services, pytest.mark.django_db]

_MARKS = """<View><Image name="img" value="$picture"/>
<Choices name="seen" toName="img" choice="multiple"><Choice value="Tall hat"/><Choice value="Drum"/>
<Choice value="None of these"/></Choices></View>"""
_STARS = """<View><Text name="word" value="$attribute"/><Rating name="visible" toName="word" maxRating="5"/></View>"""


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:2]) as hands:
        yield hands


def exported(label_studio, hands, configuration, rows, results, tmp_path):
    """Have each person answer each task of a new project; return the file with the export."""
    with Client(label_studio.url, label_studio.owner.token) as client:
        project = client.create_project(
            title="Foreign", configuration=configuration, annotations_per_task=2, instructions=""
        )
        tasks = client.import_tasks(project, rows)
    for hand, answers in zip(hands, results, strict=True):
        for task, value in zip(tasks, answers, strict=True):
            hand.answer(task, [value])
    path = tmp_path / "export.json"
    path.write_text(json.dumps(hands[0].ask("GET", f"projects/{project}/export?exportType=JSON")))
    return path


def test_stars_of_a_real_export_are_ratings(label_studio, hands, study, tmp_path):
    def stars(number):
        return {"from_name": "visible", "to_name": "word", "type": "rating", "value": {"rating": number}}

    rows = [{"attribute": "tall hat"}, {"attribute": "drum"}]
    results = [[stars(4), stars(1)], [stars(5), stars(2)]]
    path = exported(label_studio, hands, _STARS, rows, results, tmp_path)
    found = suggestions(take_inventory(json.loads(path.read_text())))
    assert (found["attribute"], found["rating"]) == ("attribute", "visible")
    import_export(
        target=ImportTarget(name=study.name, by=None),
        file=path,
        options=ExportOptions(names=parse_names(["rating=visible"])),
    )
    assert Campaign.objects.get().kind == "attribute_likert"
    rated = Judgement.objects.values_list("attribute__text", "rating")
    assert sorted(rated) == [("drum", 1), ("drum", 2), ("tall hat", 4), ("tall hat", 5)]


def test_none_among_the_choices_of_a_real_export_is_none_of_the_above(label_studio, hands, study, tmp_path):
    def seen(*texts):
        return {"from_name": "seen", "to_name": "img", "type": "choices", "value": {"choices": list(texts)}}

    group = study.groups.earliest("pk").name
    rows = [{"picture": f"https://example.org/{name}.png", "group": group} for name in ("a", "b")]
    results = [[seen("Tall hat"), seen("None of these")], [seen("None of these"), seen("Tall hat", "Drum")]]
    path = exported(label_studio, hands, _MARKS, rows, results, tmp_path)
    names = parse_names(["image=picture", "present=seen"], asked=("tall hat", "drum"))
    import_export(
        target=ImportTarget(name=study.name, by=None), file=path, options=ExportOptions(names=names)
    )
    assert sorted(Annotation.objects.values_list("none_of_the_above", flat=True)) == [
        False,
        False,
        True,
        True,
    ]
    assert Judgement.objects.filter(present=True).count() == 3
    assert Judgement.objects.count() == 8
