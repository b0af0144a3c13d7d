"""Serving one image under its signed address."""

import time

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from accounts.rights import Capability, requires
from foundation.errors import NotFound
from generation.images.reencode import CONTENT_TYPE, etag, shown_bytes
from generation.images.signed_urls import open_token
from generation.models import Image


@requires(get=Capability.BY_KEY)
def image(request: HttpRequest, token: str) -> HttpResponse:
    """Serve the picture of a token, without a file name, cacheable until the token expires."""
    try:
        address = open_token(token)
        stored = Image.objects.filter(public_id=address.public_id).only("sha256", "file").first()
        return picture(request, stored, size=address.size, seconds=address.expires_at - time.time())
    except NotFound as error:
        return no_picture(error)


def picture(request: HttpRequest, image: Image | None, *, size: int, seconds: float) -> HttpResponse:
    """Return a response with the image, cacheable for `seconds`. Raises NotFound."""
    if image is None or not image.file:
        raise NotFound("image_not_found", "There is no image at this address.")
    data = shown_bytes(image, size=size)
    tag = etag(data)
    response: HttpResponse
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(data, content_type=CONTENT_TYPE)
    response["ETag"] = tag
    response["Cache-Control"] = f"private, max-age={max(0, int(seconds))}, immutable"
    response["Content-Disposition"] = "inline"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def no_picture(error: NotFound) -> HttpResponse:
    """Return a plain-text 404: it replaces a picture, often on a page of another tool."""
    return HttpResponse(error.message, status=404, content_type="text/plain; charset=utf-8")
