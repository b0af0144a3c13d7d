"""Base templates, error pages and the gallery, as people see them."""

import json
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.db import OperationalError
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory

from accounts.models import User
from web.views import server_error

ROOT = Path(__file__).resolve().parents[2]


def render(source: str, user: object, path: str = "/studies/isles/", **values: object) -> str:
    request = RequestFactory().get(path)
    request.user = user  # type: ignore[assignment]
    return Template(source).render(Context({"request": request, **values}))


BASE = """{% extends "web/base.html" %}
{% block title %}Isles{% endblock %}{% block content %}<p>Text</p>{% endblock %}"""
WORK = BASE.replace("base.html", "base_annotator.html")


def test_a_lead_finds_studies_jobs_and_account_and_may_sign_out():
    html = render(BASE, User(username="lena", display_name="Lena", is_lead=True))
    for words in (">Studies<", ">Jobs<", ">Account<", ">Sign out<", ">Lena<"):
        assert words in html
    assert ">Administration<" not in html
    assert re.search(r'<form[^>]*method="post"[^>]*action="/account/sign-out/"', html)


def test_administration_is_offered_to_staff_only():
    assert ">Administration<" in render(BASE, User(username="root", is_staff=True))


def test_someone_not_signed_in_is_offered_to_sign_in_and_nothing_else():
    html = render(BASE, AnonymousUser())
    assert ">Sign in<" in html
    assert ">Studies<" not in html
    assert "Sign out" not in html


def test_navigation_marks_the_current_page():
    assert '<a href="/studies/" aria-current="true">' in render(BASE, User(username="lena"))
    assert '<a href="/studies/" aria-current="page">' in render(BASE, User(username="lena"), path="/studies/")


def test_a_page_of_another_part_is_not_called_current():
    html = render(BASE, User(username="lena"), path="/resources/studies/")
    assert "aria-current" not in html


def test_every_page_has_a_title_a_language_a_skip_link_and_one_main():
    for source in (BASE, WORK):
        html = render(source, AnonymousUser())
        assert "<title>Isles · Stereoscope</title>" in html
        assert '<html lang="en" dir="ltr">' in html
        assert 'href="#main"' in html
        assert html.count("<main") == 1


def test_an_annotator_sees_nothing_but_the_work():
    html = render(WORK, User(username="person-1"))
    assert "<nav" not in html
    assert "Studies" not in html
    assert "person-1" not in html
    assert 'href="/' not in html.split("<main")[1]


def test_messages_show_their_tone_and_are_escaped():
    messages = [Message(constants.SUCCESS, "Saved."), Message(constants.ERROR, "<b>Row 7</b> is wrong.")]
    html = render(BASE, AnonymousUser(), messages=messages)
    assert re.search(r'role="status">\s*<p class="notice good">\s*Saved\.\s*</p>', html)
    assert re.search(r'<p class="notice bad">\s*&lt;b&gt;Row 7&lt;/b&gt; is wrong\.\s*</p>', html)


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "404.html", "500.html"])
def test_an_error_page_needs_neither_person_nor_database(name):
    html = render_to_string(name)
    assert html.count("<h1>") == 1
    assert 'href="/"' in html


def test_a_missing_page_shows_our_own_text(client):
    answer = client.get("/no-such-page/")
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()


def test_a_missing_address_of_the_api_answers_in_the_error_shape(client):
    answer = client.get("/api/v1/nothing-here/")
    assert answer.status_code == 404
    assert answer.json() == {
        "error": {"code": "not_found", "message": "There is nothing at this address.", "fields": {}}
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(OperationalError, 503, "database_unavailable"), (ZeroDivisionError, 500, "server_error")],
)
@pytest.mark.parametrize("path", ["/api/v1/campaigns/1/next", "/studies/"])
def test_only_an_unavailable_database_suggests_trying_again(error, status, code, path):
    request = RequestFactory().get(path)
    try:
        raise error
    except error:
        answer = server_error(request)
    assert (answer.status_code, answer.get("Retry-After")) == (status, "1" if status == 503 else None)
    if path.startswith("/api/"):
        assert json.loads(answer.content)["error"]["code"] == code
    else:
        heading = "Please try again in a moment" if status == 503 else "Something went wrong here"
        assert heading in answer.content.decode()


def test_the_page_of_the_api_has_neither_style_nor_script_inside(client):
    page = client.get("/api/docs/").content.decode()
    assert "<style" not in page
    assert "style=" not in page
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_a_domain_error_is_shown_with_its_fields():
    error = {"message": "Two rows are wrong.", "fields": {"row 7": "<no> group"}}
    html = render_to_string("web/error.html", {"error": error})
    assert "Two rows are wrong." in html
    assert "<strong>row 7</strong>: &lt;no&gt; group" in html


def test_the_gallery_shows_staff_every_component_without_a_database_query(
    admin_client, django_assert_max_num_queries
):
    with django_assert_max_num_queries(2):  # the session and the user
        answer = admin_client.get("/gallery/")
    assert answer.status_code == 200
    html = answer.content.decode()
    for part in (
        "stages",
        "tabs",
        "tiles",
        "data-sortable",
        "interval",
        "segments",
        "notice bad",
        "content-warning",
    ):
        assert part in html


def test_the_gallery_is_closed_to_everyone_else(lead_client, client):
    assert lead_client.get("/gallery/").status_code == 403
    assert client.get("/gallery/").status_code == 302


def test_every_static_file_that_a_base_template_names_is_there():
    for template in (ROOT / "platform/web/templates").rglob("*.html"):
        for name in re.findall(r"{% static '([^']+)' %}", template.read_text()):
            assert (ROOT / "platform/web/static" / name).is_file(), f"{template.name} names {name}"


def test_every_class_of_the_design_document_is_in_a_stylesheet():
    sheets = "".join(path.read_text() for path in (ROOT / "platform/web/static/web").rglob("*.css"))
    classes = (
        (ROOT / "docs/develop/design.md")
        .read_text()
        .split("## Classes")[1]
        .split("Tokens (custom properties)")[0]
    )
    named = {
        name
        for cell in re.findall(r"^\| (`[^|]+`) \|", classes, re.MULTILINE)
        for name in re.findall(r"[\w-]+", cell)
    }
    missing = sorted(name for name in named if not re.search(rf"\.{re.escape(name)}(?![\w-])", sheets))
    assert named
    assert missing == []


def test_every_tag_is_in_the_design_document():
    from web.templatetags.design import register

    document = (ROOT / "docs/develop/design.md").read_text()
    missing = sorted(name for name in {*register.tags, *register.filters} if name not in document)
    assert missing == []
