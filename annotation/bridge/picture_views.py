"""An image of ours in the page of a Label Studio, which has another address than we have."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.errors import NotFound
from annotation.bridge.addresses import open_address
from generation.image_views import no_picture, picture
from generation.serving import FULL

# Addresses are renewed or made void at any moment: a browser asks again now and then.
_KEPT = 3600.0


@require_safe
def shown(request: HttpRequest, token: str) -> HttpResponse:
    """Answer the picture to whoever has its address, on whatever site; no cookie of ours plays any part."""
    try:
        image, left = open_address(token)
        response = picture(request, image, size=FULL, seconds=min(left, _KEPT))
    except NotFound as error:
        response = no_picture(error)
    # Label Studio draws the picture on a canvas and so asks for it across sites, without credentials.
    response["Access-Control-Allow-Origin"] = "*"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Referrer-Policy"] = "no-referrer"
    return response
