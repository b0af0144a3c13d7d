"""Every tag of the design system writes its markup, and escapes its arguments."""

from datetime import UTC, datetime, timedelta

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory
from django.urls import NoReverseMatch
from django.utils import timezone, translation

from web.design.gallery import GalleryForm

HOSTILE = '<script>alert("x")</script>'


def render(
    source: str, path: str = "/studies/isles/groups/", query: dict[str, str] | None = None, **values: object
) -> str:
    request = RequestFactory().get(path, query or {})
    return Template("{% load design %}" + source).render(Context({"request": request, **values}))


@pytest.mark.parametrize(
    "source",
    [
        "{% page_header x lead=x %}{% endpage_header %}",
        "{% breadcrumbs x x %}",
        "{% tabs x x x %}",
        "{% notice title=x tone=x %}{{ x }}{% endnotice %}",
        "{% content_warning x %}{{ x }}{% endcontent_warning %}",
        "{% empty_state x %}{{ x }}{% endempty_state %}",
        "{% data_table caption=x id=x filter=x classes=x %}{% enddata_table %}",
        "{% plot title=x units=x table_id=x %}{% endplot %}",
        "{% number 1 unit=x %}",
        "{% number None reason=x %}",
        "{% num_cell None reason=x %}",
        "{% percent_cell None reason=x %}",
        "{% interval None 1 None 0 2 reason=x %}",
        "{% interval_cell None None None 0 2 reason=x %}",
        "{% status x %}",
        "{% status 'open' label=x tone=x %}",
        "{% progress 1 2 label=x %}",
        "{% copyable x label=x %}",
        "{% when None missing=x %}",
        "{{ x|reason_text }}",
    ],
)
def test_a_tag_escapes_what_it_is_given(source):
    html = render(source, x=HOSTILE)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_lists_of_things_are_escaped_too():
    html = render(
        "{% stage_bar stages %}{% progress_segments segments 3 label=x %}{% facts pairs %}"
        "{% plot title='t' downloads=pairs %}{% endplot %}",
        x=HOSTILE,
        stages=[{"name": HOSTILE, "state": HOSTILE, "detail": HOSTILE, "url": HOSTILE, "action": HOSTILE}],
        segments=[(HOSTILE, 1, HOSTILE)],
        pairs=[(HOSTILE, HOSTILE)],
    )
    assert "<script" not in html


def test_markup_of_a_template_inside_a_block_is_not_escaped():
    assert '<a class="button" href="/new/">New</a>' in render(
        '{% page_header "Studies" %}<a class="button" href="/new/">New</a>{% endpage_header %}'
    )


def test_a_page_header_without_actions_leaves_no_empty_row():
    assert 'class="actions"' not in render('{% page_header "Studies" %} {% endpage_header %}')


def test_the_current_tab_is_the_nearest_one():
    source = '{% tabs "Study" "Overview" "/studies/isles/" "Groups" "/studies/isles/groups/" %}'
    assert '<a href="/studies/isles/groups/" aria-current="page">' in render(source)
    below = render(source, path="/studies/isles/groups/velmari/")
    assert '<a href="/studies/isles/groups/" aria-current="true">' in below
    assert below.count("aria-current") == 1


def test_an_overview_is_current_on_its_own_page_alone():
    source = '{% tabs "Study" "Overview" "/studies/isles/" "Groups" "/studies/isles/groups/" %}'
    assert '<a href="/studies/isles/" aria-current="page">' in render(source, path="/studies/isles/")
    assert "aria-current" not in render(source, path="/studies/isles/words/")


def test_labels_without_an_address_are_refused():
    with pytest.raises(TemplateSyntaxError, match="pairs"):
        render('{% breadcrumbs "Studies" %}')


def test_a_number_cell_sorts_by_the_value_and_shows_the_rounding():
    assert render("{% num_cell v 2 %}", v=3.14159) == '<td class="num" data-value="3.14159">3.14</td>'


def test_a_missing_number_is_a_dash_with_its_reason_and_an_empty_sort_key():
    html = render("{% num_cell v reason='too_few_annotators' %}", v=None)
    assert 'data-value=""' in html
    assert "—" in html
    assert "too few annotators" in html


def test_an_interval_without_limits_says_why_beside_the_drawing():
    html = render("{% interval None 0.3 None 0 1 reason='too_sparse' %}")
    assert 'class="null-reason">no interval: too sparse' in html


def test_an_interval_prints_its_numbers_on_demand():
    assert "3.10 (2.20 to 4.60)" in render("{% interval 2.2 3.1 4.6 0.25 16 values=True %}")


@pytest.mark.parametrize(
    ("state", "tone"),
    [("running", "active"), ("failed", "bad"), ("paused", "warn"), ("done", "good"), ("odd", "quiet")],
)
def test_a_state_has_its_tone(state, tone):
    assert f'class="status {tone}"' in render("{% status s %}", s=state)


def test_there_is_no_sixth_label():
    with pytest.raises(ValueError, match="6"):
        render("{% label_mark 6 %}")


def test_progress_of_nothing_is_no_division_by_zero():
    html = render("{% progress 0 0 %}")
    assert "0 of 0" in html
    assert 'max="1"' in html


def test_segments_follow_each_other_and_leave_the_rest_empty():
    html = render("{% progress_segments s 8 %}", s=[("complete", 4, "done"), ("under way", 2, "active")])
    assert 'x="0.000" y="0" width="50.000"' in html
    assert 'x="50.000" y="0" width="25.000"' in html


def test_pages_keep_the_rest_of_the_address():
    page = Paginator(range(100), 10).get_page(2)
    html = render("{% pagination p %}", query={"region": "North Isles", "page": "2"}, p=page)
    assert "?region=North+Isles&amp;page=1" in html
    assert "?region=North+Isles&amp;page=3" in html
    assert "Page 2 of 10" in html


def test_a_single_page_needs_no_links():
    assert "nav" not in render("{% pagination p %}", p=Paginator([1], 10).get_page(1))


def test_moments_are_exact_for_people_and_machines():
    moment = datetime(2026, 3, 4, 17, 5, tzinfo=UTC)
    html = render("{% when m %}", m=moment)
    assert html.endswith(">4 Mar 2026, 17:05 UTC</time>")
    assert f'datetime="{moment.isoformat()}"' in html
    with timezone.override("Asia/Kolkata"):
        assert ">4 Mar 2026, 22:35 IST<" in render("{% when m %}", m=moment)
    with translation.override("de"):
        assert ">4. März 2026, 17:05 UTC<" in render("{% when m %}", m=moment)


def test_the_distance_of_a_moment_is_shown_on_hover():
    now = timezone.now()
    for moment, words in (
        (now - timedelta(hours=3, minutes=5), "3\xa0hours ago"),
        (now + timedelta(days=2, minutes=5), "in 2\xa0days"),
        (now, "just now"),
    ):
        assert f'title="{words}"' in render("{% when m %}", m=moment)


def test_a_filter_needs_to_know_its_table():
    with pytest.raises(TemplateSyntaxError, match="id"):
        render("{% data_table caption='Groups' filter='Filter' %}{% enddata_table %}")


def test_a_field_ties_label_help_control_and_error_together():
    html = render("{% field form.images %}", form=GalleryForm({"images": "0"}))
    assert '<label for="id_images">' in html
    assert 'id="id_images_helptext"' in html
    assert 'aria-describedby="id_images_helptext id_images_error"' in html
    assert 'id="id_images_error"' in html
    assert 'aria-invalid="true"' in html


def test_answers_that_belong_together_share_a_legend():
    html = render("{% field form.regions %}", form=GalleryForm())
    assert html.count("<fieldset") == html.count("<legend>") == 1
    assert 'aria-describedby="id_regions_helptext"' in html
    assert "(optional)" in html


def test_only_what_may_be_left_out_says_so():
    assert "(optional)" not in render("{% field form.name %}", form=GalleryForm())
    assert "(optional)" in render("{% field form.note %}", form=GalleryForm())


def test_the_error_summary_links_to_each_field():
    html = render("{% form_fields form %}", form=GalleryForm({"name": "", "images": "0"}))
    assert 'role="alert"' in html
    assert '<a href="#id_name">' in html
    assert 'href="#id_kind' in html
    assert html.index('role="alert"') < html.index('for="id_name"')


def test_a_form_without_errors_has_no_summary():
    assert "error" not in render("{% form_errors form %}", form=GalleryForm())


def test_hidden_fields_are_sent_and_not_labelled():
    class Hidden(forms.Form):
        token = forms.CharField(widget=forms.HiddenInput, initial="t")

    html = render("{% form_fields form %}", form=Hidden())
    assert 'type="hidden"' in html
    assert "<label" not in html


def test_values_are_sent_again_without_ids_labels_and_help():
    html = render("{% hidden_inputs form %}", form=GalleryForm({"name": "Ada & Co", "regions": ["a", "b"]}))
    assert '<input type="hidden" name="name" value="Ada &amp; Co">' in html
    assert html.count('name="regions"') == 2
    assert not any(text in html for text in ("id=", "aria-", "<label", "required"))


def test_a_button_that_posts_goes_to_its_address():
    html = render("{% post_button 'studies:member_remove' 'isles' 4 label=\"Remove\" tone=\"danger\" %}")
    assert 'action="/studies/isles/members/4/remove/"' in html
    assert '<button class="button danger"' in html
    with pytest.raises(NoReverseMatch):
        render("{% post_button 'studies:no_such_page' label=\"Remove\" %}")


def test_help_and_labels_of_a_field_are_escaped():
    class Hostile(forms.Form):
        field = forms.CharField(label=HOSTILE, help_text=HOSTILE)

    assert "<script" not in render("{% form_fields form %}", form=Hostile({"field": ""}))


def test_an_unknown_field_name_raises_an_error():
    with pytest.raises(TemplateSyntaxError, match="name right"):
        render("{% field form.nonsense %}", form=GalleryForm())
