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
    """Answer the picture, named by nothing, kept by the browser for as long as its address lives."""
    try:
        address = open_token(token)
        stored = Image.objects.filter(public_id=address.public_id).only("sha256", "file").first()
        return picture(request, stored, size=address.size, seconds=address.expires_at - time.time())
    except NotFound as error:
        return no_picture(error)


def picture(request: HttpRequest, image: Image | None, *, size: int, seconds: float) -> HttpResponse:
    """Answer the pixels of an image, for the browser to keep for so long. Raises NotFound."""
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
    """Answer in plain text: this stands where a picture should, often in another tool's page."""
    return HttpResponse(error.message, status=404, content_type="text/plain; charset=utf-8")
