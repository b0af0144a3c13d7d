"""Annotators of a campaign who may be one person, by keyed hashes of where and how they joined."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from annotation.models import Campaign, Enrolment

MAX_HOUSEHOLD = 3  # people who joined from one address


@dataclass(frozen=True)
class SuspectedDouble:
    """Annotators who joined in one browser, or from one address with one kind of browser."""

    enrolments: tuple[Enrolment, ...]
    same_browser: bool

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        return tuple(enrolment.annotator.pseudonym for enrolment in self.enrolments)


def suspected_doubles(campaign: Campaign) -> list[SuspectedDouble]:
    """Return annotators of a campaign who may be one person.

    They joined in the same browser, or from the same address with the same kind of browser. An address from which more
    than MAX_HOUSEHOLD people joined belongs to a classroom or a company and tells nothing about two of them.
    """
    rows = list(campaign.enrolments.select_related("annotator").order_by("pk"))
    residents = Counter(row.joined_print[:32] for row in rows)
    groups: dict[tuple[str, str], list[Enrolment]] = defaultdict(list)
    for row in rows:
        if row.joined_device:
            groups["device", row.joined_device].append(row)
        if row.joined_print and residents[row.joined_print[:32]] <= MAX_HOUSEHOLD:
            groups["print", row.joined_print].append(row)
    # A group that is part of another adds nothing; groups are in order of joining.
    doubles: dict[tuple[Enrolment, ...], bool] = {}
    for (kind, _), group in groups.items():
        if len(group) > 1:
            doubles[tuple(group)] = doubles.get(tuple(group), False) or kind == "device"
    return [
        SuspectedDouble(group, same_browser=same_browser)
        for group, same_browser in doubles.items()
        if not any(set(group) < set(larger) for larger in doubles)
    ]


def prints(fingerprint: str, device: str) -> dict[str, str]:
    """Return the columns of an enrolment with keyed hashes of an address, a type of browser and a browser.

    The first half of `joined_print` is of the address (the fingerprint's first word) alone.
    """
    address, _, browser = fingerprint.partition(" ")
    return {
        "joined_print": _keyed(address)[:32] + _keyed(browser)[:32] if fingerprint else "",
        "joined_device": _keyed(device) if device else "",
    }


def _keyed(text: str) -> str:
    return salted_hmac("annotation.invitations", text, algorithm="sha256").hexdigest()
