"""Serving our images to Label Studio's pages, which have a different origin."""

from django.http import HttpRequest, HttpResponse

from accounts.rights import Capability, requires
from annotation.label_studio.push.image_urls import open_address
from foundation.errors import NotFound
from generation.images.signed_urls import FULL
from generation.pages.signed_images import no_picture, picture


@requires(get=Capability.BY_KEY)
def signed_picture(request: HttpRequest, token: str) -> HttpResponse:
    """Return the picture to anybody with its address, on any site; our cookies are not used."""
    try:
        image, seconds_left = open_address(token)
        response = picture(request, image, size=FULL, seconds=seconds_left)
        # An address may be revoked, or its image retracted, at any time. So a browser with the picture asks each time
        # whether it may still show it, and receives nothing again if it may.
        response["Cache-Control"] = "private, no-cache"
    except NotFound as error:
        response = no_picture(error)
    # Label Studio draws the picture on a canvas, so it requests it cross-site and without credentials.
    response["Access-Control-Allow-Origin"] = "*"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Referrer-Policy"] = "no-referrer"
    return response
