"""Tasks on the screen, without scripts: the page, the plain form, breaks, corrections."""

import json
import posixpath
import re
import uuid
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from annotation.annotator.task import MODULES, QUESTION_MODULES, RATING_MODULES
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Enrolment
from annotation.people.withdrawal import withdraw
from studies import consent
from studies.models import AuditEntry


def page(client, campaign):
    return client.get(reverse("annotate:task", args=[campaign.pk]))


def post(client, campaign, payload, **data):
    address = reverse("annotate:answer", args=[campaign.pk, payload["assignment"]])
    return client.post(address, {"submission_id": str(uuid.uuid4()), **data})


def test_a_rating_page_shows_the_word_the_statement_and_five_answers_unsure_last(join, rating):
    answer = page(join(rating), rating)
    screen, payload = answer.context["screen"], answer.context["payload"]
    assert [choice.label for choice in screen.choices] == [
        "Strongly Agree",
        "Agree",
        "Disagree",
        "Strongly Disagree",
        "Unsure",
    ]
    assert [choice.value for choice in screen.choices] == ["5", "4", "2", "1", "3"]
    text = answer.content.decode()
    assert payload["attributes"][0]["text"] in text
    assert payload["instrument"]["statement"] in text
    assert all(f"<strong>{choice.label}" in screen.guidelines for choice in screen.choices)


def test_the_page_carries_the_payload_as_data_and_no_inline_script(join, marking):
    text = page(join(marking), marking).content.decode()
    data = text.split('<script id="task-payload" type="application/json">')[1].split("</script>")[0]
    assert json.loads(data)["kind"] == "marking"
    scripts = [part.split(">")[0] for part in text.split("<script")[1:]]
    assert all("src=" in script or "application/json" in script for script in scripts)
    assert " style=" not in text
    assert " onclick=" not in text


def test_a_rating_submits_without_scripts_and_the_next_word_follows(join, rating):
    client = join(rating)
    payload = page(client, rating).context["payload"]
    assert post(client, rating, payload, rating="4").url == reverse("annotate:task", args=[rating.pk])
    assert Annotation.objects.get().judgements.get().rating == 4
    following = page(client, rating).context["payload"]
    assert following["assignment"] != payload["assignment"]
    assert following["progress"] == {"done": 1, "left": payload["progress"]["left"] - 1}


def test_unsure_without_a_reason_is_refused_and_keeps_what_was_chosen(join, rating):
    client = join(rating)
    payload = page(client, rating).context["payload"]
    answer = post(client, rating, payload, rating="3", justification=" ")
    assert answer.status_code == 400
    assert "Please write why you are unsure." in answer.content.decode()
    assert next(one for one in answer.context["screen"].choices if one.checked).value == "3"
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("rating_value", ["", "0", "6", "nonsense"])
def test_a_rating_outside_the_five_answers_is_refused(join, rating, rating_value):
    client = join(rating)
    payload = page(client, rating).context["payload"]
    assert post(client, rating, payload, rating=rating_value).status_code == 400


def test_none_of_the_above_submits_without_scripts(join, marking):
    client = join(marking)
    payload = page(client, marking).context["payload"]
    assert post(client, marking, payload, none_of_the_above="1").status_code == 302
    assert Annotation.objects.get().none_of_the_above is True


def test_a_tick_without_a_box_is_refused_where_boxes_are_asked_for(join, marking):
    client = join(marking)
    payload = page(client, marking).context["payload"]
    ref = payload["attributes"][0]["ref"]
    answer = post(client, marking, payload, ticked=[ref])
    assert answer.status_code == 400
    assert [tick.ref for tick in answer.context["screen"].ticks if tick.checked] == [ref]


def test_the_same_form_sent_twice_is_one_answer(join, rating):
    client = join(rating)
    payload = page(client, rating).context["payload"]
    submission = str(uuid.uuid4())
    for _ in range(2):
        post(client, rating, payload, rating="5", submission_id=submission)
    assert Annotation.objects.count() == 1


def test_a_form_without_its_submission_id_says_to_load_the_page_again(join, rating):
    client = join(rating)
    payload = page(client, rating).context["payload"]
    assert post(client, rating, payload, rating="5", submission_id="").status_code == 400
    assert not Annotation.objects.exists()


def test_reloading_shows_the_same_task(join, marking):
    client = join(marking)
    assert (
        page(client, marking).context["payload"]["assignment"]
        == page(client, marking).context["payload"]["assignment"]
    )


def test_skip_gives_another_task_and_is_not_offered_again(join, marking):
    client = join(marking)
    seen = set()
    for _ in range(6):
        payload = page(client, marking).context["payload"]
        assert payload["assignment"] not in seen
        seen.add(payload["assignment"])
        client.post(reverse("annotate:skip", args=[marking.pk, payload["assignment"]]))
    assert page(client, marking).url == reverse("annotate:done", args=[marking.pk])


def test_nobody_answers_or_skips_the_task_of_another(join, marking):
    one, other = join(marking), join(marking)
    payload = page(one, marking).context["payload"]
    for name in ("answer", "skip"):
        address = reverse(f"annotate:{name}", args=[marking.pk, payload["assignment"]])
        assert other.post(address, {"submission_id": str(uuid.uuid4())}).status_code == 404
    assert Assignment.objects.get(public_id=payload["assignment"]).state == "leased"


def test_the_last_answer_can_be_corrected_as_a_new_revision(join, rating):
    client = join(rating)
    first = page(client, rating).context["payload"]
    assert client.get(reverse("annotate:previous", args=[rating.pk])).status_code == 302
    post(client, rating, first, rating="4")
    before = client.get(reverse("annotate:previous", args=[rating.pk]))
    assert before.context["payload"]["assignment"] == first["assignment"]
    assert next(one for one in before.context["screen"].choices if one.checked).value == "4"
    post(client, rating, first, rating="2", revising="1")
    assert list(Annotation.objects.order_by("revision").values_list("revision", "is_latest")) == [
        (1, False),
        (2, True),
    ]


def test_a_break_frees_the_open_task_and_work_can_be_resumed(join, marking):
    client = join(marking)
    page(client, marking)
    done = reverse("annotate:done", args=[marking.pk])
    assert client.get(done).context["standing"].left == 6
    assert Assignment.objects.get().state == "leased"
    assert client.post(done).url == done
    assert Assignment.objects.get().state == "expired"
    shown = client.get(done)
    assert "Everything you submitted is saved" in shown.content.decode()
    assert shown.context["standing"].left == 6
    assert page(client, marking).status_code == 200


def test_done_thanks_counts_and_names_pay_and_support(join, rating):
    rating.options = {**rating.options, "pay": "One invented coin."}
    rating.save()
    client = join(rating)
    done = 0
    while (answer := page(client, rating)).status_code == 200:
        post(client, rating, answer.context["payload"], rating="5")
        done += 1
    text = client.get(answer.url).content.decode()
    assert done == Annotation.objects.count() > 0
    for words in ("All done. Thank you.", "One invented coin.", "take a break", "no tasks left for you"):
        assert words in text


@pytest.mark.parametrize(
    ("change", "words"),
    [("pause", "Paused for the moment"), ("close", "This work has ended")],
)
def test_a_paused_or_closed_campaign_says_so(join, lead, marking, change, words):
    client = join(marking)
    getattr(lifecycle, change)(campaign=marking, by=lead)
    answer = client.get(reverse("annotate:task", args=[marking.pk]), follow=True)
    assert words in answer.content.decode()


@pytest.mark.parametrize(
    ("state", "words"), [("paused", "Your part is paused"), ("excluded", "Your part has ended")]
)
def test_a_paused_or_excluded_annotator_sees_the_reason(join, marking, state, words):
    client = join(marking)
    Enrolment.objects.update(state=state, reason="Too fast to have looked.")
    text = client.get(reverse("annotate:task", args=[marking.pk]), follow=True).content.decode()
    assert words in text
    assert "Too fast to have looked." in text


def test_home_lists_only_the_annotators_own_work(join, marking, rating):
    client = join(marking)
    join(rating)
    shown = client.get(reverse("annotate:home"))
    assert [(one.work, one.number, one.done, one.left) for one in shown.context["standings"]] == [
        ("Marking pictures", 1, 0, 6)
    ]


def test_home_without_tasks_explains_how_to_get_some(lead_client):
    assert "You get tasks by invitation" in lead_client.get(reverse("annotate:home")).content.decode()


def test_withdrawing_is_explained_confirmed_audited_and_ends_access(join, marking):
    client = join(marking)
    page(client, marking)
    address = reverse("annotate:withdraw", args=[marking.pk])
    assert "left out of every result" in client.get(address).content.decode()
    assert consent.has_consented(client.enrolment.annotator, marking.study)
    client.post(address)
    assert not consent.has_consented(client.enrolment.annotator, marking.study)
    assert Assignment.objects.get().state == "expired"
    entry = AuditEntry.objects.get(action="consent.withdrawn")
    assert entry.actor is None
    assert entry.details == {"pseudonym": client.enrolment.annotator.pseudonym}
    assert page(client, marking).url == reverse("annotate:consent", args=[marking.pk])
    assert "count again" in client.get(page(client, marking).url).content.decode()


def test_withdrawing_twice_is_audited_once(join, marking):
    annotator = join(marking).enrolment.annotator
    assert withdraw(annotator=annotator, study=marking.study)
    assert not withdraw(annotator=annotator, study=marking.study)
    assert AuditEntry.objects.filter(action="consent.withdrawn").count() == 1


def test_the_task_page_takes_a_handful_of_queries_however_many_tasks(
    join, marking, django_assert_max_num_queries
):
    client = join(marking)
    page(client, marking)
    with django_assert_max_num_queries(30):
        page(client, marking)


def test_home_takes_the_same_queries_per_campaign(join, marking, rating, django_assert_max_num_queries):
    client = join(marking)
    with django_assert_max_num_queries(9):
        client.get(reverse("annotate:home"))


def test_the_look_ahead_names_only_the_next_picture(join, marking):
    client = join(marking)
    named = []
    while (shown := page(client, marking)).status_code == 200:
        payload = shown.context["payload"]
        if named:
            assert [payload["image"]["url"]] == named[-1]
        told = client.get(reverse("annotate:ahead", args=[marking.pk])).json()
        assert list(told) == ["images"]
        named.append(told["images"])
        post(client, marking, payload, none_of_the_above="1")
    assert named[-1] == []
    assert Assignment.objects.count() == len(named)  # looking ahead leases nothing


def test_the_look_ahead_shows_nothing_before_consent_or_after_a_pause(join, lead, marking):
    address = reverse("annotate:ahead", args=[marking.pk])
    assert join(marking, ready=False).get(address).json() == {"images": []}
    client = join(marking)
    lifecycle.pause(campaign=marking, by=lead)
    assert client.get(address).json() == {"images": []}


def test_the_look_ahead_shows_nothing_beyond_the_cap_of_the_day(join, lead, marking):
    lifecycle.change_settings(campaign=marking, by=lead, options={"tasks_per_day": 1})
    client = join(marking)
    assert page(client, marking).status_code == 200
    assert client.get(reverse("annotate:ahead", args=[marking.pk])).json() == {"images": []}


@pytest.mark.parametrize(
    ("scripts", "modules"),
    [
        (["task.js"], MODULES),
        (["task.js", "screen/rating-pane.js", "screen/choose-submits.js"], RATING_MODULES),
        (["task.js", "questions/pane.js", "questions/question-state.js"], QUESTION_MODULES),
    ],
    ids=["attributes", "ratings", "questions"],
)
def test_every_module_of_the_task_is_fetched_at_once(scripts, modules):
    imported = [f"annotation/annotator/{script}" for script in scripts]
    seen = set(imported[1:])
    while imported:
        name = imported.pop()
        path = finders.find(name)
        for found in re.findall(r'^import .* from "(\.{1,2}/[^"]+)"', Path(path).read_text(), re.MULTILINE):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(name), found))
            if module not in seen:
                seen.add(module)
                imported.append(module)
    assert set(modules) == seen


def test_a_task_page_loads_only_what_it_needs(join, marking):
    """Each file fetched before the first picture is painted delays it."""
    text = page(join(marking), marking).content.decode()
    styles = re.findall(r'<link rel="stylesheet" href="/static/([^"]+)"', text)
    assert styles == [
        *(f"web/css/{name}.css" for name in ("tokens", "base", "forms", "components", "annotator")),
        "annotation/annotator/task.css",
    ]  # fmt: skip
    assert text.index('<link rel="preload" as="image"') < text.index('<link rel="stylesheet"')
    assert "web/js/main.js" not in text
    assert len(re.findall(r'<link rel="modulepreload"|<script type="module"', text)) <= 24


def test_without_a_place_of_a_panel_no_reward_is_shown(join, marking):
    page = join(marking).get(reverse("annotate:task", args=[marking.pk])).content.decode()
    line = page[page.index('id="progress"') :].partition("</span>")[0]
    assert "done," in line
    assert "·" not in line
