"""Creating, opening, pausing and closing a recruitment."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.models import FLOOR, Campaign
from annotation.recruitment import cost, places
from annotation.recruitment.models import PanelPlace, Provider, Recruitment, new_code
from foundation.errors import Conflict, DomainError
from studies import audit

State = Recruitment.State
_BIGGEST = 100_000
_MOVES = {
    "open": ({State.DRAFT, State.PAUSED}, State.OPEN),
    "pause": ({State.OPEN}, State.PAUSED),
    "close": ({State.DRAFT, State.OPEN, State.PAUSED}, State.CLOSED),
}
_DONE = {"open": "opened", "pause": "paused", "close": "closed"}


@dataclass(frozen=True)
class Terms:
    """The settings of a recruitment."""

    name: str
    places: int
    screens: int
    minutes: int
    reward: Decimal
    currency: str
    fee_percent: Decimal = Decimal(0)
    remote_study: str = ""
    screen_out_reward: Decimal | None = None  # for people for whom there is nothing to do; None: the reward


def create(*, campaign: Campaign, provider: Provider, by: User, terms: Terms) -> Recruitment:
    """Create a draft; its reward must reach the floor of its currency."""
    if campaign.imported or campaign.labelled_in or campaign.state == Campaign.State.CLOSED:
        raise Conflict(
            "campaign_not_recruiting",
            "People can be recruited only for a campaign that is not closed and is labelled in Stereoscope.",
        )
    reward = _checked_reward(terms)
    screen_out_reward = _checked_screen_out(terms, reward)
    try:
        with transaction.atomic():
            recruitment = Recruitment.objects.create(
                campaign=campaign,
                provider=provider,
                name=terms.name.strip(),
                places=terms.places,
                screens=terms.screens,
                minutes=terms.minutes,
                reward=reward,
                currency=terms.currency,
                fee_percent=terms.fee_percent,
                remote_study=terms.remote_study.strip(),
                screen_out_reward=screen_out_reward,
                screen_out_code="" if screen_out_reward is None else new_code(),
                created_by=by,
            )
            record(by, "created", recruitment, places=recruitment.places, reward=str(_reward(recruitment)))
    except IntegrityError as error:
        message = f"This campaign already has a recruitment “{terms.name.strip()}”."
        raise Conflict("recruitment_exists", message, fields={"name": message}) from error
    return recruitment


@transaction.atomic
def move(*, recruitment: Recruitment, to: str, by: User) -> Recruitment:
    """Open, pause or close a recruitment. People at work continue; nobody new begins unless it is open."""
    before, after = _MOVES[to]
    recruitment = locked(recruitment)
    if recruitment.state not in before:
        raise Conflict(
            "recruitment_state",
            f"“{recruitment}” is {recruitment.state}, so this action is not possible now.",
        )
    recruitment.state = after
    recruitment.save(update_fields=["state"])
    record(by, _DONE[to], recruitment)
    return recruitment


def end_place(*, place: PanelPlace, by: User) -> PanelPlace:
    """End the place of somebody who gave it back at the panel; others get it and the screens they held."""
    with transaction.atomic():
        ended = places.end(place=place, state=PanelPlace.State.LEFT)
        record(by, "place_ended", ended.recruitment, place=ended.pk)
    return ended


def _checked_reward(terms: Terms) -> int:
    wrong: dict[str, str] = {}
    if not terms.name.strip() or len(terms.name.strip()) > 120:
        wrong["name"] = "Describe whom you recruit in at most 120 characters."
    for field in ("places", "screens", "minutes"):
        if not 1 <= getattr(terms, field) <= _BIGGEST:
            wrong[field] = f"Give a whole number from 1 to {_BIGGEST:,}."
    if not 0 <= terms.fee_percent <= 100:
        wrong["fee_percent"] = "Give a percentage from 0 to 100."
    if len(terms.currency) != 3 or not (terms.currency.isascii() and terms.currency.isupper()):
        wrong["currency"] = "Give a currency as three capital letters, such as GBP."
        raise DomainError("terms_invalid", " ".join(wrong.values()), fields=wrong)
    try:
        reward = cost.units_of(terms.reward, terms.currency)
    except ValueError:
        reward = 0
    if not 1 <= reward <= 10_000_000:
        wrong["reward"] = (
            f"Give an amount in {terms.currency} with no more decimal places than the currency has."
        )
    elif not wrong and cost.below_floor(reward, terms.minutes, terms.currency):
        least = cost.Money(FLOOR[terms.currency], terms.currency)
        paid = cost.hourly(reward, terms.minutes, terms.currency)
        wrong["reward"] = (
            f"The reward comes to {paid} an hour. Pay at least {least} an hour: raise the reward or lower "
            f"the minutes."
        )
    if wrong:
        raise DomainError("terms_invalid", " ".join(wrong.values()), fields=wrong)
    return reward


def _checked_screen_out(terms: Terms, reward: int) -> int | None:
    if terms.screen_out_reward is None:
        return None
    try:
        units = cost.units_of(terms.screen_out_reward, terms.currency)
    except ValueError:
        units = 0
    if not 1 <= units < reward:
        message = f"Give an amount in {terms.currency} below the reward, or leave it empty."
        raise DomainError("terms_invalid", message, fields={"screen_out_reward": message})
    return units


def _reward(recruitment: Recruitment) -> cost.Money:
    return cost.Money(recruitment.reward, recruitment.currency)


def locked(recruitment: Recruitment) -> Recruitment:
    """Lock a recruitment for a decision, and return its locked state."""
    Recruitment.objects.select_for_update().get(pk=recruitment.pk)
    return Recruitment.objects.select_related("campaign__study", "provider").get(pk=recruitment.pk)


def record(by: User, what: str, recruitment: Recruitment, **details: object) -> None:
    """Record an action on a recruitment in the study's history."""
    audit.record(
        by=by,
        action=f"recruitment.{what}",
        subject=recruitment,
        study=recruitment.campaign.study,
        name=recruitment.name,
        campaign=recruitment.campaign.name,
        **details,
    )
