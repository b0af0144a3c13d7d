"""Importing descriptors with their forms and dimensions: together, separately, repeatedly, or refused."""

import json

import pytest
from django.core.management import call_command

from catalog.imports.descriptors import import_descriptors
from catalog.models import IdentityGroup, Resource
from catalog.word_forms import complete_forms, plural_of
from foundation.errors import DomainError
from studies.models import Study

SINGULARS = (
    "bias_type,template\nage,An old kite maker is\ntrade,A lamplighter is\nisland,An old kite maker is\n"
)
PLURALS = "bias_type,template\ntrade,Lamplighters are\nage,Old kite makers are\nisland,Velmari are\n"


@pytest.fixture
def bring(db, tmp_path):
    def bring(**files):
        paths = []
        for name, content in files.items():
            suffix = ".json" if content.startswith(("{", "[")) else ".csv"
            paths.append(tmp_path / f"{name}{suffix}")
            paths[-1].write_text(content, encoding="utf-8")
        return import_descriptors(files=paths, name="Isles", by=None)

    return bring


def known() -> dict[str, tuple[dict[str, str], list[str]]]:
    return {group.name: (group.forms, group.dimensions) for group in IdentityGroup.objects.all()}


EXPECTED = {
    "old kite maker": ({"singular": "old kite maker", "plural": "Old kite makers"}, ["age", "island"]),
    "lamplighter": ({"singular": "lamplighter", "plural": "Lamplighters"}, ["trade"]),
    "Velmari": ({"plural": "Velmari"}, ["island"]),
}


def test_sentences_give_forms_and_a_descriptor_has_several_dimensions(bring):
    report = bring(singular=SINGULARS, plural=PLURALS)
    assert known() == EXPECTED
    assert (report.descriptors, report.created, report.without_singular) == (3, 3, ("Velmari",))


def test_files_imported_one_after_the_other_give_the_same_result(bring):
    bring(singular=SINGULARS)
    bring(plural=PLURALS)
    assert known() == EXPECTED


def test_importing_again_changes_nothing(bring):
    bring(singular=SINGULARS, plural=PLURALS)
    again = bring(singular=SINGULARS, plural=PLURALS)
    assert (again.created, again.changed) == (0, 0)


def test_own_tables_and_json_lists_of_dimensions_are_read(bring):
    bring(
        own="dimension,singular,plural\nage,Elder,Elders\ntrade,Baker,\n",
        lists=json.dumps({"isle": ["elder"]}),
    )
    assert known() == {
        "Elder": ({"singular": "Elder", "plural": "Elders"}, ["age", "isle"]),
        "Baker": ({"singular": "Baker"}, ["trade"]),
    }


def test_rows_with_one_target_belong_together_whatever_their_plural(bring):
    one = "template_singular,target,bias_type,target_singular\nDraw a/an,Old,age,elder\n"
    many = "template_plural,target,bias_type,target_plural\nDraw,Old,age,old folk\n"
    bring(one=one, many=many)
    assert known() == {"elder": ({"singular": "elder", "plural": "old folk"}, ["age"])}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("dimension,plural\nage,\n,\n", "row 2: the row has no descriptor"),
        ("dimension,singular\n,elder\n", "row 2: the dimension must have 1 to 60"),
        (f"dimension,singular\nage,{'x' * 121}\n", "row 2: a descriptor has 1 to 120"),
        ("dimension,singular\nage,a\u202eb\n", "row 2: a descriptor has 1 to 120 printable"),
        ("dimension,singular\nage,=1+1\n", "row 2: a descriptor has letters"),
        ("age,name\n1,elder\n", "has no column “singular”"),
        ("dimension,singular\nage,elder,more\n", "3 cells where the header has 2 in row 2"),
        ("dimension,singular\n", "lists no descriptor"),
        ("{" * 10, "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"age": "elder"}', "is not an object of dimensions"),
        ('{"age": [1]}', "is not an object of dimensions"),
    ],
)
def test_invalid_descriptor_lists_are_refused_in_one_sentence(bring, content, sentence):
    with pytest.raises(DomainError) as refused:
        bring(wrong=content)
    assert sentence in refused.value.message
    assert not known()


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("old person", "old people"),
        ("fisherman", "fishermen"),
        ("German", "Germans"),
        ("Chinese", "Chinese"),
        ("city", "cities"),
        ("boss", "bosses"),
        ("teenage boy", "teenage boys"),
        ("great-grandchild", "great-grandchildren"),
        ("Person", "People"),
    ],
)
def test_plurals_follow_rules(singular, plural):
    assert plural_of(singular) == plural
    assert complete_forms({"singular": singular})["plural"] == plural


def test_the_command_adds_them_to_a_study_and_keeps_its_forms(db, tmp_path, capsys):
    path = tmp_path / "isles.csv"
    path.write_text("dimension,singular\nage,Elder\n", encoding="utf-8")
    arguments = [str(path), "--resource", "Isles", "--study", "Words", "--create"]
    call_command("import_descriptors", *arguments)
    path.write_text(
        "dimension,singular,plural\nage,Elder,Elders\ntrade,Elder,Old folk\nage,Baker,\n", encoding="utf-8"
    )
    call_command("import_descriptors", *arguments)
    study = Study.objects.get(name="Words")
    assert (study.protocol, study.resource.name) == ("biasdora", "Isles")
    assert {group.name: (group.forms, group.dimensions) for group in study.groups.all()} == {
        "Elder": ({"singular": "Elder", "plural": "Elders"}, ["age", "trade"]),
        "Baker": ({"singular": "Baker"}, ["age"]),
    }
    assert "1 new descriptors; 1 existing descriptors were completed" in capsys.readouterr().out
    with pytest.raises(DomainError, match="is about groups of “Isles”"):
        call_command("import_descriptors", str(path), "--resource", "Other", "--study", "Words")
    assert list(Resource.objects.values_list("name", flat=True)) == ["Isles"]


def test_no_form_of_the_published_files_is_lost(db, shared_data):
    files = [shared_data / "biasdora" / f"t2t_setting{number}.csv" for number in (1, 2)]
    report = import_descriptors(files=files, name="BiasDora", by=None)
    assert (report.rows, report.dimensions) == (819, 9)
    plurals = {forms["plural"].casefold() for forms, _ in known().values() if "plural" in forms}
    sentences = files[1].read_text(encoding="utf-8-sig").splitlines()[1:]
    published = {
        line.split(",")[1].strip()[:-4].casefold() for line in sentences if line.strip().endswith(" are")
    }
    assert {name for name in published if name not in plurals} <= {"middle aged people"}
