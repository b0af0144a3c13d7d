"""Use of the form of a kind as in a browser without scripts: read its controls, press its buttons."""

from html.parser import HTMLParser

from django.http import QueryDict
from django.urls import reverse

NEW = reverse("annotation:kind_new", args=["isles"])


class Controls(HTMLParser):
    """Collects the data that a form would send, and its buttons."""

    def __init__(self, form_id="kind-form"):
        super().__init__()
        self.form_id, self.inside = form_id, False
        self.sent = QueryDict(mutable=True)
        self.buttons, self.ids = [], []
        self._select, self._text = None, None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.append(values.get("id"))
        if tag == "form":
            self.inside = values.get("id") == self.form_id
        if not (self.inside or values.get("form") == self.form_id):
            return
        name, value = values.get("name"), values.get("value", "")
        if tag == "button":
            self.buttons.append(value)
        elif tag == "textarea":
            self._text = name
            self.sent.appendlist(name, "")
        elif tag == "select":
            self._select = [name, None, False]
        elif tag == "option" and self._select:
            if "selected" in values or self._select[1] is None:
                self._select[1] = value
        elif tag == "input" and name:
            if values.get("type") in {"checkbox", "radio"}:
                if "checked" in values:
                    self.sent.appendlist(name, values.get("value", "on"))
            else:
                self.sent.appendlist(name, value)

    def handle_endtag(self, tag):
        if tag == "form":
            self.inside = False
        if tag == "textarea":
            self._text = None
        if tag == "select" and self._select:
            self.sent.appendlist(self._select[0], self._select[1])
            self._select = None

    def handle_data(self, data):
        if self._text:
            # As in browsers, a line break at the beginning is not part of the text.
            self.sent[self._text] += data.removeprefix("\n") if not self.sent[self._text] else data


def controls(response) -> Controls:
    read = Controls()
    read.feed(response.content.decode())
    return read


def press(client, address, response, action, **typed):
    """Fill in the form of a response, and press one of its buttons."""
    read = controls(response)
    assert action in read.buttons, (action, read.buttons)
    sent = read.sent
    for path, value in typed.items():
        sent.setlist(path, value if isinstance(value, list) else [value])
    sent["action"] = action
    return client.post(address, sent.urlencode(), content_type="application/x-www-form-urlencoded")
