"""Pages don't carry the indentation of their templates."""

from pathlib import Path

import pytest
from django.template import Context, Engine


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setattr("web.design.template_loader.Loader.get_dirs", lambda self: [tmp_path])
    return Engine(loaders=["web.design.template_loader.Loader"])


def rendered(engine: Engine, folder: Path, text: str, name: str = "page.html") -> str:
    (folder / name).write_text(text)
    return engine.get_template(name).render(Context({"count": 3}))


def test_a_line_break_and_its_indentation_are_one_space(engine, tmp_path):
    text = "<b>\n    {{ count }} of\n    4\n  </b>\n"
    assert rendered(engine, tmp_path, text) == "<b> 3 of 4 </b>"


def test_beside_a_block_not_even_a_space_is_left(engine, tmp_path):
    text = '<dl>\n  <dt class="wide">\n    Wide\n  </dt>\n  <dd>\n    <b>3</b>\n    of 4\n  </dd>\n</dl>\n'
    assert rendered(engine, tmp_path, text) == '<dl><dt class="wide">Wide</dt><dd><b>3</b> of 4</dd></dl>'


def test_a_tag_that_ends_on_a_line_of_its_own_has_no_space_in_it(engine, tmp_path):
    assert rendered(engine, tmp_path, '<a\n  href="/"\n>{{ count }}</a>\n') == '<a href="/">3</a>'


@pytest.mark.parametrize("element", ["pre", "textarea", "style", "script"])
def test_white_space_with_a_meaning_stays(engine, tmp_path, element):
    text = f"<{element}>\n  {{{{ count }}}}\n    4\n</{element}>\n"
    assert rendered(engine, tmp_path, text) == text.replace("{{ count }}", "3")


def test_a_script_that_is_loaded_has_no_text_of_its_own(engine, tmp_path):
    text = '<script type="module" src="x.js"></script>\n<p>\n  x</p>'
    assert rendered(engine, tmp_path, text) == '<script type="module" src="x.js"></script><p>x</p>'


def test_files_that_are_not_pages_are_unchanged(engine, tmp_path):
    assert rendered(engine, tmp_path, "a\n  b\n", "mail.txt") == "a\n  b\n"
