"""Data for the gallery of components, with invented peoples and every state of a component."""

from dataclasses import dataclass
from datetime import timedelta

from django import forms
from django.core.paginator import Paginator
from django.utils import timezone

from web.design.tones import TONES


class GalleryForm(forms.Form):
    """One field of each kind; some are invalid when the form is bound to empty data."""

    name = forms.CharField(
        label="Name of the study", help_text="Readers of the report see the name.", max_length=80
    )
    images = forms.IntegerField(
        label="Images per group", min_value=1, help_text="The published study used 15."
    )
    resource = forms.ChoiceField(
        label="Resource", choices=[("a", "Invented peoples"), ("b", "Another resource")]
    )
    note = forms.CharField(label="Note", required=False, widget=forms.Textarea(attrs={"rows": 3}))
    kind = forms.ChoiceField(
        label="Campaign",
        choices=[("likert", "Can it be depicted?"), ("marking", "Which are in the picture?")],
        widget=forms.RadioSelect,
    )
    regions = forms.MultipleChoiceField(
        label="Regions",
        required=False,
        choices=[("n", "North Isles"), ("s", "South Isles"), ("p", "The Plains")],
        widget=forms.CheckboxSelectMultiple,
        help_text="If you choose no region, all regions are used.",
    )
    agree = forms.BooleanField(label="Show content notices before every image", required=False)


@dataclass(frozen=True)
class GalleryRow:
    """A row of results: complete, beyond the axis, without an interval, or without a value."""

    group: str
    region: str
    judgements: int
    share: float | None
    theta: float | None
    low: float | None
    high: float | None
    reason: str = ""


ROWS = (
    GalleryRow("Velmari", "North Isles", 12480, 0.42, 3.1, 2.2, 4.6),
    GalleryRow("Orsani", "North Isles", 9120, 0.18, 1.04, 0.71, 1.49),
    GalleryRow("Tsembi", "The Plains", 480, 0.61, 8.7, 4.1, 31.0),
    GalleryRow("Quillan", "The Plains", 96, 0.02, 0.31, None, None, "too_sparse"),
    GalleryRow("Harrow Folk", "South Isles", 0, None, None, None, None, "not_shown"),
)


def gallery_context() -> dict[str, object]:
    """Return the context of the gallery template."""
    now = timezone.now()
    return {
        "form": GalleryForm(initial={"images": 15, "kind": "marking", "regions": ["n"]}),
        "wrong": GalleryForm({"name": "", "images": "0"}),
        "rows": ROWS,
        "tones": TONES.items(),
        "stages": [
            {"name": "Plan", "state": "done", "detail": "2 groups, 8 attributes"},
            {
                "name": "Generate",
                "state": "done",
                "detail": "30 images",
                "url": "#generate",
                "action": "See images",
            },
            {
                "name": "Annotate",
                "state": "current",
                "detail": "412 of 720",
                "url": "#annotate",
                "action": "Open campaign",
            },
            {"name": "Score", "state": "stuck", "detail": "1 job failed", "url": "#score", "action": "Retry"},
            {"name": "Measure", "state": "waiting"},
            {"name": "Release", "state": "skipped"},
        ],
        "segments": [
            ("complete", 412, "done"),
            ("under way", 36, "active"),
            ("waiting", 260, "waiting"),
            ("flagged", 12, "bad"),
        ],
        "facts": [
            ("Created", "12 March, by Lena"),
            ("Seed", 7),
            ("Annotators per task", 3),
            ("Closed", None),
        ],
        "page_obj": Paginator(range(122_675), 50).get_page(3),
        "moments": [now - timedelta(seconds=20), now - timedelta(hours=3), now + timedelta(days=2)],
        "downloads": [("SVG", "#svg"), ("PNG", "#png"), ("CSV", "#csv")],
        "answers": [
            ("5", "Strongly agree", "Objects, colours: hat, lantern"),
            ("4", "Agree", "From visual cues: poor, fashionable"),
            ("2", "Disagree", "Only in some contexts"),
            ("1", "Strongly disagree", "Cannot be seen: kind, talkative"),
            ("3", "Unsure", "Say why"),
        ],
        "marks": [
            (1, "tall hat", 2),
            (2, "blue scarf", 0),
            (3, "lantern", 1),
            (4, "kite", 1),
            (5, "drum", 0),
        ],
    }
