"""What a missed threshold is called: for leads in English, for annotators in their language.

An annotator reads which measure it is, its value and what was asked, and never which screens it was taken from.
"""

from django.utils.formats import number_format
from django.utils.translation import gettext

from annotation.models import QualityEvent, QualityMeasure
from annotation.quality.measures import Measured, Quality

_TIME = QualityMeasure.MEDIAN_SECONDS
_MOST = QualityMeasure.STRAIGHT_LINING  # of this one more is worse


def amount(measure: str, value: float) -> str:
    """Return a value of a measure in its unit, for leads."""
    return f"{value:.1f} s" if measure == _TIME else f"{_percent(value)} %"


def asked(measure: str, threshold: float) -> str:
    """Return what a threshold asks, for leads: 'at least 70 %'."""
    return f"at {'most' if measure == _MOST else 'least'} {amount(measure, threshold)}"


def for_lead(event: QualityEvent) -> str:
    """Return what was measured and what was asked."""
    screens = f"{event.rests_on:,} screen{'' if event.rests_on == 1 else 's'}"
    return (
        f"{event.get_measure_display()} {amount(event.measure, event.value)} over {screens}, "
        f"{asked(event.measure, event.threshold)} asked"
    )


def for_annotator(event: QualityEvent) -> str:
    """Return the same in the annotator's language, said to them."""
    return f"{_found(event)} {_asked_of_them(event)}"


def _found(event: QualityEvent) -> str:
    values = {"value": _value(event.measure, event.value)}
    if event.measure == QualityMeasure.GOLD_ACCURACY:
        return gettext("Where the answer is known, %(value)s of yours were right.") % values
    if event.measure == QualityMeasure.AGREEMENT:
        return gettext("Others gave the same answers as you in %(value)s of cases.") % values
    if event.measure == QualityMeasure.SELF_CONSISTENCY:
        return gettext("Asked the same once more, you gave the same answer in %(value)s of cases.") % values
    if event.measure == QualityMeasure.VARIETY:
        return (
            gettext(
                "You gave an answer other than your most frequent one in %(value)s of the cases in which others did."
            )
            % values
        )
    if event.measure == _TIME:
        return gettext("You usually took %(value)s for a task.") % values
    return gettext("In %(value)s of tasks you gave one and the same answer.") % values


def _asked_of_them(event: QualityEvent) -> str:
    values = {"number": event.rests_on, "threshold": _value(event.measure, event.threshold)}
    if event.measure == _MOST:
        return gettext("At most %(threshold)s is expected. Tasks this rests on: %(number)s.") % values
    return gettext("At least %(threshold)s is expected. Tasks this rests on: %(number)s.") % values


def _value(measure: str, value: float) -> str:
    if measure == _TIME:
        return gettext("%(seconds)s seconds") % {"seconds": number_format(round(value, 1))}
    return f"{number_format(_percent(value))} %"


def _percent(share: float) -> str:
    """Return percent with a decimal where it says more: 69.9 is not 70, which may be what was asked."""
    return f"{100 * share:.1f}".removesuffix(".0")


def facts(quality: Quality) -> list[tuple[str, Measured, str]]:
    """Return each measure's name, what was found, and its value in words."""
    return [
        (QualityMeasure(measure).label, found, "" if found.value is None else amount(measure, found.value))
        for measure, found in quality.items()
    ]
