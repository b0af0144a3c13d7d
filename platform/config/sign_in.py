"""Settings of signing in: passwords, identity providers, second factors and sessions; part of `config.settings`."""

from datetime import timedelta

from config import env

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # refuses before any password is checked
    "django.contrib.auth.backends.ModelBackend",
]
# Wrong passwords for one user name from one address, or from a browser in which that user has signed in before; the
# right password resets the count. Sign-ins are not logged.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "accounts.sign_in.devices.client_address"
AXES_LOCKOUT_CALLABLE = "accounts.pages.sign_in.too_many_failures"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
# django-allauth provides sign-in pages and the steps after a password, within the limits of `accounts.sign_in`.
ACCOUNT_ADAPTER = "accounts.sign_in.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"  # an administrator enters addresses
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # no letter to addresses without an account
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
ACCOUNT_RATE_LIMITS = {
    # django-axes counts wrong passwords; everybody behind one proxy signs in from the same address.
    "login": None,
    "login_failed": None,
}
# An identity provider that speaks OpenID Connect (accounts.sign_in.providers). Without an issuer there is none.
OIDC_ISSUER = env.text("OIDC_ISSUER", "")
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_SECRET", "")
OIDC_NAME = env.text("OIDC_NAME", "single sign-on")
OIDC_SCOPES = env.text("OIDC_SCOPES", "openid profile email").split()
# An identity provider that speaks SAML 2.0, by its metadata. Needs requirements/saml.txt.
SAML_METADATA_FILE = env.text("SAML_METADATA_FILE", "")
SAML_IDP = env.text("SAML_IDP", "")  # the entity id, if the file describes several
SAML_NAME = env.text("SAML_NAME", "single sign-on")
# Names of attributes: the first that an assertion has is used; for groups, all of them.
SAML_SUBJECT_ATTRIBUTE = env.words(
    "SAML_SUBJECT_ATTRIBUTE",
    "urn:oasis:names:tc:SAML:attribute:pairwise-id,urn:oasis:names:tc:SAML:attribute:subject-id,NameID",
)
SAML_EMAIL_ATTRIBUTE = env.words("SAML_EMAIL_ATTRIBUTE", "urn:oid:0.9.2342.19200300.100.1.3")
SAML_NAME_ATTRIBUTE = env.words("SAML_NAME_ATTRIBUTE", "urn:oid:2.16.840.1.113730.3.1.241")
SAML_GROUPS_ATTRIBUTE = env.words("SAML_GROUPS_ATTRIBUTE", "urn:oid:1.3.6.1.4.1.5923.1.1.1.1,groups")
# Domains whose addresses count as verified, because SAML has no statement about that.
SAML_EMAIL_DOMAINS = env.words("SAML_EMAIL_DOMAINS")
# Rules for people from a provider. Deny by default: without these, nobody gets an account, a link or a role.
SSO_NEW_ACCOUNTS = env.flag("SSO_NEW_ACCOUNTS", False)
SSO_LINK_BY_EMAIL = env.flag("SSO_LINK_BY_EMAIL", False)
# Domains whose addresses the provider gives only to their owners, although it does not report them as verified.
SSO_EMAIL_DOMAINS = env.words("SSO_EMAIL_DOMAINS")
SSO_GROUPS_CLAIM = env.text("SSO_GROUPS_CLAIM", "groups")
SSO_GROUPS = env.rules("SSO_GROUPS", among=("lead", "analyst", "staff"))
SSO_REQUIRE_GROUP = env.flag("SSO_REQUIRE_GROUP", True)
# People with a linked account cannot sign in by password or passkey; superusers can.
SSO_ONLY = env.flag("SSO_ONLY", False)
# Values of acr or amr which mean that the provider required a second factor.
SSO_SECOND_FACTOR = env.words("SSO_SECOND_FACTOR")
SOCIALACCOUNT_ADAPTER = "accounts.sign_in.providers.adapter.ProviderAdapter"
# Called with a change of an account; writes the audit entry.
ACCOUNT_AUDIT = "studies.audit.record"
# Groups that need a second factor in addition to the password: administrators, leads, analysts.
SECOND_FACTOR_FOR = env.words("SECOND_FACTOR_FOR")
# Called with a person; returns the groups to which they belong through studies.
STUDY_GROUPS = "studies.access.groups_of"
MFA_ADAPTER = "accounts.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# A passkey cannot be guessed, and a whole class may sign in from one address.
MFA_RATE_LIMITS = {"webauthn_login": None}
MFA_FORMS = {
    "authenticate": "accounts.sign_in.codes.SignInCodeForm",
    "reauthenticate": "accounts.sign_in.codes.ConfirmCodeForm",
    "activate_totp": "accounts.sign_in.codes.FirstCodeForm",
    "add_webauthn": "accounts.sign_in.passkeys.AddPasskeyForm",
    "authenticate_webauthn": "accounts.sign_in.passkeys.SecondPasskeyForm",
    "reauthenticate_webauthn": "accounts.sign_in.passkeys.ConfirmPasskeyForm",
    "login_webauthn": "accounts.sign_in.passkeys.SignInPasskeyForm",
    "edit_webauthn": "accounts.sign_in.passkeys.RenamePasskeyForm",
}
MFA_TOTP_ISSUER = "Stereoscope"
MFA_TOTP_TOLERANCE = 1  # the codes before and after, for clocks that differ by half a minute
MFA_ALLOW_UNVERIFIED_EMAIL = True  # an administrator enters addresses
# A session ends after this time without use, and after this time since signing in; 0: only Django's two weeks.
SESSION_IDLE_MINUTES = env.integer("SESSION_IDLE_MINUTES", 8 * 60)
SESSION_MAX_HOURS = env.integer("SESSION_MAX_HOURS", 14 * 24)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
