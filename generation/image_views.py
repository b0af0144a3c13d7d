"""Serving one image under its signed address."""

import time

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.views.decorators.http import require_safe

from accounts.errors import NotFound
from generation.models import Image
from generation.reencoding import CONTENT_TYPE, etag, shown_bytes
from generation.serving import open_token


@require_safe
def image(request: HttpRequest, token: str) -> HttpResponse:
    """Answer the picture, named by nothing, kept by the browser for as long as its address lives."""
    try:
        address = open_token(token)
        found = Image.objects.filter(public_id=address.public_id).only("sha256", "file").first()
        if found is None or not found.file:
            raise NotFound("image_not_found", "There is no image at this address.")
        data = shown_bytes(found, size=address.size)
    except NotFound as error:
        # Plain text: this stands where a picture should, often in another tool's page.
        return HttpResponse(error.message, status=404, content_type="text/plain; charset=utf-8")
    tag = etag(data)
    response: HttpResponse
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(data, content_type=CONTENT_TYPE)
    response["ETag"] = tag
    response["Cache-Control"] = f"private, max-age={max(0, int(address.expires_at - time.time()))}, immutable"
    response["Content-Disposition"] = "inline"
    response["X-Content-Type-Options"] = "nosniff"
    return response
