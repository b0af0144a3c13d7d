"""An OpenID Connect server in a separate process: django-oauth-toolkit, with people that a test describes in a file.

    python -m tests.accounts.sign_in.providers.oidc_server PORT FOLDER

FOLDER/people.json holds the claims of each person by user name. Keys that begin with an underscore make the
server lie: `_id_token` and `_userinfo` are claims put in at the end, `_key` is "foreign" or "none".
"""

import json
import sys
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.conf import settings
from jwcrypto import jwk, jwt

PASSWORD = "a password over there"
CLIENT, SECRET = "stereoscope", "a secret of the client"
PEOPLE = ("lena", "mira", "nobody")


def claims_of(folder: Path, name: str) -> dict[str, object]:
    return json.loads((folder / "people.json").read_text())[name]


def configure(port: int, folder: Path) -> None:
    key = jwk.JWK.generate(kty="RSA", size=2048).export_to_pem(private_key=True, password=None).decode()
    settings.configure(
        SECRET_KEY="of the provider",
        ALLOWED_HOSTS=["127.0.0.1"],
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "oauth2_provider",
        ],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        ROOT_URLCONF=__name__,
        LOGIN_URL="/login/",
        SESSION_COOKIE_NAME="provider_session",
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "loaders": [
                        ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
                        "django.template.loaders.app_directories.Loader",
                    ]
                },
            }
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": key,
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
            "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
            "OAUTH2_VALIDATOR_CLASS": f"{__name__}.validator",
            "PKCE_REQUIRED": True,
            "SCOPES": {"openid": "", "profile": "", "email": ""},
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http"],
        },
    )
    settings.TEMPLATES[0].pop("APP_DIRS")
    settings.FOLDER = folder


LOGIN = """<form method=post>{% csrf_token %}{{ form }}<button>Sign in</button></form>"""


def validator(*args: object, **kwargs: object) -> object:
    """Return the request validator, whose base class needs Django to be set up."""
    from oauth2_provider.oauth2_validators import OAuth2Validator

    class Validator(OAuth2Validator):
        oidc_claim_scope = None

        def get_additional_claims(self, request):
            claims = claims_of(settings.FOLDER, request.user.username)
            return {name: value for name, value in claims.items() if not name.startswith("_")}

        def get_userinfo_claims(self, request):
            lies = claims_of(settings.FOLDER, request.user.username).get("_userinfo", {})
            return {**super().get_userinfo_claims(request), **lies}

        def finalize_id_token(self, id_token, token, token_handler, request):
            honest = super().finalize_id_token(id_token, token, token_handler, request)
            claims = claims_of(settings.FOLDER, request.user.username)
            if not {"_id_token", "_key"} & set(claims):
                return honest
            key = request.client.jwk_key
            signed = jwt.JWT(key=key, jwt=honest, check_claims={"exp": None})
            body = {**json.loads(signed.claims), **claims.get("_id_token", {})}
            header = {"typ": "JWT", "alg": "RS256", "kid": key.thumbprint()}
            if claims.get("_key") == "foreign":
                key = jwk.JWK.generate(kty="RSA", size=2048)
            if claims.get("_key") == "none":
                import jwt as pyjwt

                return pyjwt.encode(body, None, algorithm="none", headers={"kid": header["kid"]})
            lie = jwt.JWT(header=header, claims=body)
            lie.make_signed_token(key)
            return lie.serialize()

    return Validator(*args, **kwargs)


def fill(callbacks: list[str]) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for name in PEOPLE:
        User.objects.create_user(name, password=PASSWORD)
    Application.objects.create(
        client_id=CLIENT,
        client_secret=SECRET,
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=" ".join(callbacks),
        post_logout_redirect_uris=" ".join(f"{callback.split('/account/')[0]}/" for callback in callbacks),
        skip_authorization=True,
        algorithm="RS256",
    )


class Silent(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keep request lines out of the test output."""


def main() -> None:
    port, folder, *callbacks = sys.argv[1:]
    configure(int(port), Path(folder))
    django.setup()
    fill(callbacks)
    from django.core.wsgi import get_wsgi_application

    with make_server("127.0.0.1", int(port), get_wsgi_application(), handler_class=Silent) as server:
        server.serve_forever()


def __getattr__(name: str) -> object:
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.contrib.auth.views import LoginView
    from django.urls import include, path

    return [
        path("login/", LoginView.as_view()),
        path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    ]


if __name__ == "__main__":
    import tests.accounts.sign_in.providers.oidc_server as itself

    itself.main()
