"""Panels from which a study recruits. The form of links is predefined for known panels and can be described for
others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.recruitment.models import Provider
from annotation.recruitment.prolific import access
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study


@dataclass(frozen=True)
class LinkForm:
    """The form of a panel's links. `placeholders` are the panel's own names for the values of the parameters."""

    title: str
    person_parameter: str
    place_parameter: str = ""
    study_parameter: str = ""
    completion_address: str = ""
    placeholders: Mapping[str, str] | None = None

    def link_end(self) -> str:
        """Return the query of the link to paste into the panel."""
        names = filter(None, (self.person_parameter, self.place_parameter, self.study_parameter))
        placeholders = self.placeholders or {}
        return "&".join(f"{name}={placeholders.get(name, '')}" for name in names)


# Sources: Prolific's and SONA's own pages of 2026.
KNOWN_PANELS: Mapping[str, LinkForm] = {
    "prolific": LinkForm(
        "Prolific",
        "PROLIFIC_PID",
        "SESSION_ID",
        "STUDY_ID",
        "https://app.prolific.com/submissions/complete?cc={code}",
        {
            "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
            "SESSION_ID": "{{%SESSION_ID%}}",
            "STUDY_ID": "{{%STUDY_ID%}}",
        },
    ),
    "sona": LinkForm("SONA", "survey_code", placeholders={"survey_code": "%SURVEY_CODE%"}),
    "generic": LinkForm("Another panel", "person", "submission", "study"),
}


def add(
    *, study: Study, by: User, name: str, links: LinkForm, api: access.ApiAccess | None = None
) -> Provider:
    """Add a panel to a study; one with an API only if it accepts the token."""
    _check(name, links)
    if api is not None:
        access.check(api)
    try:
        with transaction.atomic():
            provider = Provider.objects.create(
                study=study,
                name=name.strip(),
                person_parameter=links.person_parameter,
                place_parameter=links.place_parameter,
                study_parameter=links.study_parameter,
                completion_address=links.completion_address.strip(),
                **_api_fields(api),
            )
            audit.record(by=by, action="provider.added", subject=provider, study=study, name=provider.name)
    except IntegrityError as error:
        message = f"This study already has a panel “{name.strip()}”."
        raise Conflict("provider_exists", message, fields={"name": message}) from error
    return provider


def change_token(*, provider: Provider, by: User, api: access.ApiAccess) -> Provider:
    """Use another token, workspace or form of links from now on, if the panel accepts it."""
    access.check(api)
    with transaction.atomic():
        for name, value in _api_fields(api).items():
            setattr(provider, name, value)
        provider.save(update_fields=["kind", "token_sealed", "workspace", "signs_links"])
        audit.record(
            by=by, action="provider.token_changed", subject=provider, study=provider.study, name=provider.name
        )
    return provider


def _api_fields(api: access.ApiAccess | None) -> dict[str, Any]:
    if api is None:
        return {}
    return {
        "kind": Provider.Kind.PROLIFIC,
        "token_sealed": access.seal(api.token),
        "workspace": api.workspace,
        "signs_links": api.signs_links,
    }


def query_of(provider: Provider) -> str:
    """Return the query of the link to paste into the panel, with its placeholders if they are known."""
    own = (provider.person_parameter, provider.place_parameter, provider.study_parameter)
    for form in KNOWN_PANELS.values():
        if (form.person_parameter, form.place_parameter, form.study_parameter) == own and form.placeholders:
            return form.link_end()
    return "&".join(f"{name}=…" for name in own if name)


def _check(name: str, links: LinkForm) -> None:
    wrong: dict[str, str] = {}
    if not name.strip() or len(name.strip()) > 80:
        wrong["name"] = "Give the panel a name of at most 80 characters."
    names = [links.person_parameter, links.place_parameter, links.study_parameter]
    for field, value in zip(("person_parameter", "place_parameter", "study_parameter"), names, strict=True):
        if value and (not value.replace("_", "").replace("-", "").isalnum() or len(value) > 40):
            wrong[field] = "Use letters, digits, hyphens and underscores."
        elif value and names.count(value) > 1:
            wrong[field] = "Each parameter needs a different name."
    if not links.person_parameter:
        wrong["person_parameter"] = "Say which parameter contains the person’s id."
    address = links.completion_address.strip()
    if address and (not address.startswith("https://") or len(address) > 500 or not address.isprintable()):
        wrong["completion_address"] = "Give an address that begins with https://."
    if wrong:
        raise DomainError("provider_invalid", " ".join(wrong.values()), fields=wrong)
