"""Captions of images, with the attributes that they contain highlighted."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from analysis.models import Caption
from analysis.pages.results_page import ResultsPage
from generation.images.signed_urls import SMALL, image_url
from generation.models import Image

MOST_VISIBLE = 5  # captions of an image shown at first; the others unfold


@dataclass(frozen=True)
class CaptionedImage:
    """An image, its captions with highlighted attributes, and the number of captions with each attribute."""

    image: Image
    url: str
    captions: Sequence[SafeString]
    matches: Sequence[tuple[str, int]]

    @property
    def visible(self) -> Sequence[SafeString]:
        return self.captions[:MOST_VISIBLE]

    @property
    def more(self) -> Sequence[SafeString]:
        return self.captions[MOST_VISIBLE:]


def captioned(
    page: ResultsPage, images: Sequence[Image], attributes: Sequence[str], *, scorer: str = ""
) -> list[CaptionedImage]:
    """Return the images with their captions by one scorer (or all); captions with an attribute come first."""
    captions = Caption.objects.filter(image__in=images, scorer__study=page.study)
    captions = captions.filter(scorer__model_label=scorer) if scorer else captions
    texts: dict[int, list[str]] = {image.pk: [] for image in images}
    for image, text in captions.order_by("scorer_id", "position").values_list("image", "text"):
        if text not in texts[image]:  # two scorers may write the same caption
            texts[image].append(text)
    phrases = phrases_by_first_word(attributes) if any(texts.values()) else {}
    return [
        CaptionedImage(
            image, image_url(image, viewer=page.viewer, size=SMALL), *_marked(texts[image.pk], phrases)
        )
        for image in images
    ]


def phrases_by_first_word(attributes: Iterable[str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Index attributes and their folded words by first word; pages search hundreds of captions for them."""
    from analysis.metrics.captions.words import phrases_of  # loads word lists

    by_first_word: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for attribute, phrase in phrases_of(attributes).items():
        if phrase:
            by_first_word.setdefault(phrase[0], []).append((attribute, phrase))
    return by_first_word


def find_spans(
    text: str, phrases: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
) -> list[tuple[int, int, str]]:
    """Return the same spans as `analysis.metrics.captions.matcher.match_spans`, for folded attributes."""
    from analysis.metrics.captions.words import words

    tokens = words(text)
    folded = [token.folded for token in tokens]
    spans = [
        (tokens[at].start, tokens[at + len(phrase) - 1].end, attribute)
        for at, word in enumerate(folded)
        for attribute, phrase in phrases.get(word, ())
        if tuple(folded[at : at + len(phrase)]) == phrase
    ]
    return sorted(spans)


def _marked(
    texts: Sequence[str], phrases: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
) -> tuple[list[SafeString], list[tuple[str, int]]]:
    spans = [find_spans(text, phrases) for text in texts]
    order = sorted(range(len(texts)), key=lambda place: not spans[place])
    counted = Counter(attribute for text_spans in spans for attribute in {span[2] for span in text_spans})
    return [highlight(texts[place], spans[place]) for place in order], counted.most_common()


def highlight(text: str, spans: Iterable[tuple[int, int, Any]]) -> SafeString:
    """Return the text with spans in <mark>; of overlapping spans, the first, or the longest at one start."""
    parts: list[str] = []
    at = 0
    for start, end, _ in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < at:
            continue
        parts += [escape(text[at:start]), format_html("<mark>{}</mark>", text[start:end])]
        at = end
    return mark_safe("".join([*parts, escape(text[at:])]))  # noqa: S308 -- every part is escaped
