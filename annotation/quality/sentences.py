"""Sentences about missed thresholds: for leads in English, for annotators in their language.

An annotator reads the measure, its value and the threshold, but never the screens used for it.
"""

from django.utils.formats import number_format
from django.utils.translation import gettext

from annotation.kinds.registry import kind_of
from annotation.models import Campaign, QualityEvent, QualityMeasure
from annotation.quality.measured_answers import measures_of
from annotation.quality.measures import MeasureValue, Quality

_TIME = QualityMeasure.MEDIAN_SECONDS
_MOST = QualityMeasure.STRAIGHT_LINING  # for this measure, larger values are worse


def amount(measure: str, value: float) -> str:
    """Return a value of a measure in its unit, for leads."""
    return f"{value:.1f} s" if measure == _TIME else f"{_percent(value)} %"


def threshold_text(measure: str, threshold: float) -> str:
    """Return a threshold for leads, as in 'at least 70 %'."""
    return f"at {'most' if measure == _MOST else 'least'} {amount(measure, threshold)}"


def for_lead(event: QualityEvent) -> str:
    """Return the measured value and the threshold."""
    screens = f"{event.rests_on:,} screen{'' if event.rests_on == 1 else 's'}"
    return (
        f"{event.get_measure_display()} {amount(event.measure, event.value)} over {screens}, "
        f"{threshold_text(event.measure, event.threshold)} asked"
    )


def for_annotator(event: QualityEvent) -> str:
    """Return the same for the annotator, in their language."""
    return f"{_measured_sentence(event)} {_threshold_sentence(event)}"


def _measured_sentence(event: QualityEvent) -> str:
    values = {"value": _value(event.measure, event.value)}
    if event.measure == QualityMeasure.GOLD_ACCURACY:
        return gettext("In tasks with a known answer, %(value)s of your answers were right.") % values
    if event.measure == QualityMeasure.AGREEMENT:
        return gettext("Other people gave the same answers as you in %(value)s of cases.") % values
    if event.measure == QualityMeasure.SELF_CONSISTENCY:
        return gettext("When a task was repeated, you gave the same answer in %(value)s of cases.") % values
    if event.measure == QualityMeasure.VARIETY:
        return gettext("You varied your answers %(value)s as often as other people did.") % values
    if event.measure == _TIME:
        return gettext("You usually spent %(value)s on a task.") % values
    return gettext("You gave the same answer in %(value)s of tasks.") % values


def _threshold_sentence(event: QualityEvent) -> str:
    values = {"number": event.rests_on, "threshold": _value(event.measure, event.threshold)}
    if event.measure == _MOST:
        return gettext("At most %(threshold)s is expected. Number of tasks measured: %(number)s.") % values
    return gettext("At least %(threshold)s is expected. Number of tasks measured: %(number)s.") % values


def _value(measure: str, value: float) -> str:
    if measure == _TIME:
        return gettext("%(seconds)s seconds") % {"seconds": number_format(round(value, 1))}
    return f"{number_format(_percent(value))} %"


def _percent(share: float) -> str:
    """Return percent with one decimal where it is not 0: 69.9 % misses a threshold of 70 %."""
    return f"{100 * share:.1f}".removesuffix(".0")


def facts(campaign: Campaign, quality: Quality) -> list[tuple[str, MeasureValue, str]]:
    """Return the name of each measure that the campaign has, its value, and the value as text."""
    measures = measures_of(kind_of(campaign))
    return [
        (
            QualityMeasure(measure).label,
            measured,
            "" if measured.value is None else amount(measure, measured.value),
        )
        for measure, measured in quality.items()
        if measure in measures
    ]
