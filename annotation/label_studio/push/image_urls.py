"""Addresses under which Label Studio shows our images: signed, valid for one project, and revocable.

An address contains the image, the project and a version, encrypted. Its expiry is stored in our database, not in the
address, so all addresses of a bridge can be extended or revoked at once without a request to Label Studio.
"""

from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.urls import get_script_prefix, reverse
from django.utils import timezone

from annotation.kinds.registry import kind_of
from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject
from annotation.models import Campaign
from foundation.errors import DomainError, NotFound
from generation.images.signed_urls import seal, unseal
from generation.models import Image

_USE = "annotation.bridge.images"
_PROJECT, _VERSION = 8, 4  # bytes
_PLAIN = 16 + _PROJECT + _VERSION


def shows_pictures(campaign: Campaign) -> bool:
    """Whether the campaign's screens show images, so that addresses are sent to Label Studio."""
    return kind_of(campaign).stimuli.medium == "image"


def image_address(image: Image, *, bridge: LabelStudioBridge, project: LabelStudioProject) -> str:
    """Return the address of an image in the tasks of one project. Raises DomainError without SITE_URL."""
    return address_of(image.public_id, bridge=bridge, project=project)


def address_of(public_id: UUID, *, bridge: LabelStudioBridge, project: LabelStudioProject) -> str:
    """Return `image_address` of the image with this public id."""
    needs_site_url()
    plain = public_id.bytes + project.pk.to_bytes(_PROJECT, "big")
    token = seal(plain + bridge.images_version.to_bytes(_VERSION, "big"), use=_USE)
    return f"{settings.SITE_URL}{_path(get_script_prefix())}{token}"


@lru_cache(maxsize=16)
def _path(prefix: str) -> str:  # noqa: ARG001 -- what `reverse` puts in front
    return reverse("pictures:picture", args=["token"]).removesuffix("token")


def needs_site_url() -> None:
    """Raise DomainError if browsers could not reach our images."""
    if not settings.SITE_URL:
        raise DomainError(
            "site_url_missing",
            "Label Studio’s page cannot show pictures of this server: its operator must set SITE_URL to the "
            "address at which browsers reach this server.",
        )


def open_address(token: str) -> tuple[Image, float]:
    """Return the image at an address and the seconds for which it is still valid; raises NotFound for every problem."""
    plain = unseal(token, length=_PLAIN, use=_USE)
    if plain is None:
        raise _nothing()
    pk, version = (int.from_bytes(part, "big") for part in (plain[16:-_VERSION], plain[-_VERSION:]))
    bridge = (
        LabelStudioBridge.objects.filter(projects=pk, images_version=version)
        .values_list("images_until", "campaign__study")
        .first()
    )
    if bridge is None or bridge[0] is None:
        raise _nothing()
    seconds_left = (bridge[0] - timezone.now()).total_seconds()
    image = Image.objects.filter(public_id=UUID(bytes=plain[:16]), study=bridge[1], retracted_at=None).first()
    if seconds_left <= 0 or image is None:
        raise _nothing()
    return image, seconds_left


def _nothing() -> NotFound:
    return NotFound("image_not_found", "There is no image at this address.")
