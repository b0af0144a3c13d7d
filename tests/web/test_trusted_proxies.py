"""The address of a visitor behind proxies: headers are believed from trusted proxies only."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import RequestFactory

from config import env
from web.middleware import TrustedProxyMiddleware

PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


def seen(settings, proxies, **headers):
    """Return the address, the scheme header and the host header that a view gets."""
    settings.TRUSTED_PROXIES = proxies
    met = {}

    def view(request):
        met.update(request.META)
        return HttpResponse()

    TrustedProxyMiddleware(view)(RequestFactory().get("/", **headers))
    return met


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("10.0.0.9", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.9", "203.0.113.5, 198.51.100.7", "198.51.100.7"),  # the first is claimed by the visitor
        ("10.0.0.9", "203.0.113.5, 198.51.100.7, 10.0.0.8", "198.51.100.7"),  # two proxies
        ("10.0.0.9", "198.51.100.7:51234", "198.51.100.7"),
        ("10.0.0.9", "[2001:db8::7]:443, 10.0.0.8", "2001:db8::7"),
        ("10.0.0.9", "nonsense, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.9", "198.51.100.7, nonsense", "10.0.0.9"),
        ("10.0.0.9", "", "10.0.0.9"),
        ("10.0.0.9", "10.0.0.3", "10.0.0.3"),  # somebody in the internal network
        ("fd00::1", "198.51.100.7", "198.51.100.7"),
        ("::ffff:10.0.0.9", "198.51.100.7", "198.51.100.7"),
        ("198.51.100.7", "203.0.113.5", "198.51.100.7"),  # not a proxy of ours
        ("198.51.100.7", "10.0.0.9", "198.51.100.7"),
    ],
)
def test_the_visitor_is_the_last_address_that_no_trusted_proxy_has(settings, peer, forwarded, visitor):
    met = seen(settings, PROXIES, REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=forwarded)
    assert met["REMOTE_ADDR"] == visitor


def test_forged_headers_are_removed(settings):
    forged = {
        "HTTP_X_FORWARDED_FOR": "203.0.113.5",
        "HTTP_X_FORWARDED_PROTO": "https",
        "HTTP_X_FORWARDED_HOST": "elsewhere.example",
        "HTTP_X_REAL_IP": "203.0.113.5",
        "HTTP_FORWARDED": "for=203.0.113.5",
    }
    for proxies in (PROXIES, []):
        assert not set(forged) & set(seen(settings, proxies, REMOTE_ADDR="198.51.100.7", **forged))
    unsaid = seen(settings, None, REMOTE_ADDR="198.51.100.7", **forged)
    assert set(forged) & set(unsaid) == {"HTTP_X_FORWARDED_PROTO"}
    assert unsaid["REMOTE_ADDR"] == "198.51.100.7"


def test_the_setting_is_read_strictly(monkeypatch):
    for text, networks in (("10.0.0.0/8, fd00::/8", PROXIES), ("none", []), ("", None)):
        monkeypatch.setenv("TRUSTED_PROXIES", text)
        assert env.networks("TRUSTED_PROXIES") == networks
    for wrong in ("10.0.0.1/8", "proxy", "none, 10.0.0.0/8"):
        monkeypatch.setenv("TRUSTED_PROXIES", wrong)
        with pytest.raises(ImproperlyConfigured, match="TRUSTED_PROXIES"):
            env.networks("TRUSTED_PROXIES")
