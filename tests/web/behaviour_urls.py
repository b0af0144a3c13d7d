"""A page that uses every browser module, and an address whose progress grows with each request."""

import itertools

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import engines
from django.urls import path

from accounts.rights import Capability, requires

PAGE = """{% extends "web/base_plain.html" %}{% load design %}{% block title %}Behaviour{% endblock %}
{% block content %}
{% data_table caption="Groups" id="groups" sortable=True filter="Filter groups" %}
<thead><tr><th scope="col" data-key="group">Group</th><th scope="col" data-key="theta" class="num">θ</th>
<th scope="col" data-nosort>Images</th></tr></thead>
<tbody><tr><th scope="row">Émbari</th>{% num_cell 9.5 0 %}<td>a</td></tr>
<tr><th scope="row">Velmari</th>{% num_cell -2.25 2 %}<td>b</td></tr>
<tr><th scope="row">Orsani</th>{% num_cell None reason="not_shown" %}<td>c</td></tr>
<tr><th scope="row">Tsembi</th>{% num_cell 1234 %}<td>d</td></tr></tbody>{% enddata_table %}
<div id="job" data-poll="/progress/{{ request.GET.as|default:'json' }}/" data-poll-interval="50">
{% progress 0 4 label="Images" %}<span data-poll-text="message"></span></div>
<form id="form" method="get" action="/slow/" data-confirm-leave data-submit-once>
<label for="note">Note</label><input id="note" name="note">
<label><input type="radio" name="rating" value="5"> Agree</label>
<label><input type="radio" name="rating" value="3"> Unsure</label>
<div id="why" data-show-when="rating=3">
<label for="reason">Why?</label><textarea id="reason" name="reason" required></textarea></div>
<button class="button primary" data-busy="Saving…">Save</button></form>
{% copyable "https://example.org/i/7QK3" label="Copy link" %}
{% content_warning "What follows shows stereotypes." %}
<p id="hidden-part">Tall hats.</p>{% endcontent_warning %}
{% endblock %}"""
asked = itertools.count(1)
submitted: list[str] = []
gone: set[str] = set()  # links that are no longer in the list


@requires(get=Capability.ANYONE)
def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(engines["django"].from_string(PAGE).render({}, request))


@requires(get=Capability.ANYONE)
def progress_json(request: HttpRequest) -> JsonResponse:
    done = min(next(asked), 4)
    words = "finished" if done == 4 else "<b>drawing</b>"
    return JsonResponse(
        {"state": "running", "done": done, "total": 4, "message": words, "finished": done == 4}
    )


@requires(get=Capability.ANYONE)
def progress_html(request: HttpRequest) -> HttpResponse:
    source = '{% load design %}{% progress 4 4 %}<p data-poll-finished>{% copyable "x" label="Copy it" %}</p>'
    return HttpResponse(engines["django"].from_string(source).render({}, request))


@requires(get=Capability.ANYONE)
def progress_list(request: HttpRequest) -> HttpResponse:
    """A response that is new with each request, except for its first part."""
    number = next(asked)
    moving = '<a href="/third/">third</a>' if "third" not in gone else ""
    lines = f'<p>{number} seen</p><a href="/first/">first {number}</a> <a href="/second/">second</a> {moving}'
    return HttpResponse(f'<p><a href="/still/">still</a></p><div>{lines}</div>')


@requires(get=Capability.ANYONE)
def broken(request: HttpRequest) -> HttpResponse:
    next(asked)
    return HttpResponse(status=503)


@requires(get=Capability.ANYONE)
def slow(request: HttpRequest) -> HttpResponse:
    submitted.append(request.GET["note"])
    return HttpResponse(status=204)


urlpatterns = [
    path("behaviour/", page),
    path("progress/json/", progress_json),
    path("progress/html/", progress_html),
    path("progress/list/", progress_list),
    path("progress/broken/", broken),
    path("slow/", slow),
]
