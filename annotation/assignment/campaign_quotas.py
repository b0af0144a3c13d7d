"""The quotas of a campaign: its rules, put together with the region and nationality of each identity group."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from accounts.profile_codes import codes
from annotation.assignment.quota_rules import stored
from annotation.assignment.quotas import Profile, Rule, TaskRules, closed_mix, normalise, resolve
from annotation.models import Campaign
from studies.models import StudyGroup
from studies.protocol.unlisted_codes import own_code


@dataclass(frozen=True)
class CampaignQuotas:
    """The rules of a campaign, put together with each group's own region and nationality."""

    rules: tuple[Rule, ...]
    by_group: Mapping[int | None, TaskRules]

    def of_group(self, group_id: int | None) -> TaskRules:
        return self.by_group.get(group_id) or self.by_group[None]

    def of_mix(self, mix: str) -> TaskRules | None:
        key = mix.split("/", 2)[1]
        return next((rules for rules in self.by_group.values() if rules.key == key), None)

    def allows(self, mix: str, profile: Profile) -> bool:
        """Return whether an annotator may join tasks of this mix."""
        rules = self.of_mix(mix)
        return rules is not None and rules.allows(mix, profile)

    def joined(self, mix: str, profile: Profile) -> str | None:
        """Return the mix of a task of `mix` once somebody of this profile joined; None if `mix` cannot tell."""
        rules = self.of_mix(mix)
        return rules.joined(mix, profile) if rules is not None else None

    def first_mix(self, group_id: int | None, slot_count: int) -> str:
        """Return the mix of a task without annotators."""
        rules = self.of_group(group_id)
        return rules.mix([], slot_count) if rules.completable([], slot_count) else closed_mix(slot_count)


def quotas_of(campaign: Campaign) -> CampaignQuotas | None:
    """Return the quotas of a campaign, or None. Those of a campaign that was opened never change."""
    if campaign.opened_at is None:
        return load_quotas(campaign)
    return _kept(_Opened(campaign))


def load_quotas(campaign: Campaign) -> CampaignQuotas | None:
    """Return the quotas of a campaign as the database has them now."""
    rules = stored(campaign)
    if not rules:
        return None
    by_group: dict[int | None, TaskRules] = {None: resolve(rules, {})}
    for group in campaign.study.groups.all():
        by_group[group.pk] = resolve(rules, own_values(group))
    return CampaignQuotas(rules, by_group)


class _Opened:
    """The cache key of a campaign: number, seed and opening time, which no other campaign shares."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.key = (campaign.pk, campaign.seed, campaign.opened_at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opened) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=256)
def _kept(opened: _Opened) -> CampaignQuotas | None:
    return load_quotas(opened.campaign)


def own_values(group: StudyGroup) -> dict[str, frozenset[str]]:
    """Return the codes that an annotator of the group has: its region's, and its country's or its own."""
    region = codes.code_of("region_of_origin", group.region) or own_code(group.region)
    country = _country(group.iso_code) or own_code(group.name)
    return {
        "region": frozenset(filter(None, [normalise(region)])),
        "nationality": frozenset(filter(None, [normalise(country)])),
    }


# Countries whose parts (ISO 3166-2) are identity groups of a resource.
_COUNTRY_OF_PARTS = {"US": "USA", "IN": "IND", "GB": "GBR"}


def _country(iso_code: str) -> str:
    """Return the country's code for an ISO 3166 code (`KEN`, or `US-NY` for a part), or "" if unknown."""
    whole, _, part = iso_code.partition("-")
    return codes.canonical("nationality", _COUNTRY_OF_PARTS.get(whole, "") if part else whole)
