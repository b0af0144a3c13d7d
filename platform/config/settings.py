"""Settings of Stereoscope, read from the environment; see docs/operate/settings.md for each variable."""

from pathlib import Path

from config import env
from config.sign_in import *  # noqa: F403
from foundation import languages

ROOT = Path(__file__).resolve().parents[2]
VAR = Path(env.text("STEREOSCOPE_VAR", str(ROOT / "var")))
VAR.mkdir(parents=True, exist_ok=True)

DEBUG = env.flag("DEBUG", False)
# The demo and tests set their own key; a server without one refuses to start (see config.checks).
SECRET_KEY = env.text("SECRET_KEY", "")
if not SECRET_KEY:
    from config.secret import local_secret_key

    SECRET_KEY = local_secret_key(VAR / "secret_key")
# Earlier keys, which still verify signatures and decrypt values.
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
DEMO = env.flag("STEREOSCOPE_DEMO", False)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "axes",
    "django_tasks",
    "django_tasks_db",
    "web",
    "accounts",  # before allauth, so that our templates override its own
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.usersessions",
    "allauth.mfa",
    "catalog",
    "jobs",
    "studies",
    "generation",
    "annotation",
    "annotation.recruitment",
    "annotation.label_studio",
    "analysis",
    "privacy",
    "operations",
    "front",
    "demo",
]

MIDDLEWARE = [
    "web.middleware.TracingMiddleware",
    "web.middleware.RequestMetricsMiddleware",
    "web.middleware.TrustedProxyMiddleware",
    "web.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.middleware.ContentSecurityPolicyMiddleware",
    "web.middleware.HeadMiddleware",
    "web.middleware.NoNulMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "web.languages.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "accounts.sign_in.limits.SessionLimitMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.sign_in.second_factor.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "web.middleware.DomainErrorMiddleware",
    "studies.access.RightsMiddleware",
    "accounts.sign_in.devices.DeviceMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["web.design.template_loader.Loader"])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pages.frame.account_frame",
            ],
        },
    }
]

DATABASES = {"default": env.database(env.text("DATABASE_URL", f"sqlite:///{VAR / 'stereoscope.sqlite3'}"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "KEY_FUNCTION": "foundation.encryption.cache_name",
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = ["config.formats"]
# Languages of annotators' pages; leads, analysts and operators read English (see web.languages).
LANGUAGES = [(language.code, language.name) for language in languages.LANGUAGES.values()]
# Only completely translated languages: screen readers mispronounce a page half in another language.
TRANSLATED_PATHS = (
    "/annotate/",
    "/account/linked/",
    "/account/oidc/",
    "/account/password/",
    "/account/saml/",
    "/account/sessions/",
    "/account/sign-in/",
    "/account/signed-out/",
    "/account/tokens/",
    "/language/",
    "/api/v1/assignments/",
    "/api/v1/campaigns/",
)
TRANSLATED_PAGES = ("/", "/account/")  # only these, not what lies below them
LOCALE_PATHS = [ROOT / "locale"]
LANGUAGE_COOKIE_NAME = "stereoscope_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"

STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
# WhiteNoise reads this folder, even before files are collected.
STATIC_ROOT.mkdir(exist_ok=True)
# Keyed hashes of people who were erased.
ERASURES_FILE = Path(env.text("ERASURES_FILE", str(VAR / "erasures.jsonl")))
# Days after which data about people that are no longer needed are deleted (privacy.retention); unset: kept.
RETAIN_PRINTS_DAYS = env.days("RETAIN_PRINTS_DAYS")
RETAIN_ADDRESSES_DAYS = env.days("RETAIN_ADDRESSES_DAYS")
RETAIN_PERSONAL_LINKS_DAYS = env.days("RETAIN_PERSONAL_LINKS_DAYS")
RETAIN_UNUSED_LINKS_DAYS = env.days("RETAIN_UNUSED_LINKS_DAYS")
RETAIN_PANEL_IDS_DAYS = env.days("RETAIN_PANEL_IDS_DAYS")
RETAIN_SESSIONS_DAYS = env.days("RETAIN_SESSIONS_DAYS")
RETAIN_SIGN_INS_DAYS = env.days("RETAIN_SIGN_INS_DAYS")
RETAIN_JOB_LOGS_DAYS = env.days("RETAIN_JOB_LOGS_DAYS")
MEDIA_ROOT = Path(env.text("MEDIA_ROOT", str(VAR / "media")))
# Collected files are served compressed; uncollected ones (the demo, tests) from their apps.
WHITENOISE_USE_FINDERS = not env.flag("STATIC_COLLECTED", False)
# Pictures, uploads and releases are in MEDIA_ROOT, or in a bucket of S3-compatible storage.
FILES_BUCKET = env.text("FILES_BUCKET", "")
FILES_ENDPOINT_URL = env.text("FILES_ENDPOINT_URL", "")
FILES_ACCESS_KEY = env.text("FILES_ACCESS_KEY", "")
FILES_SECRET_KEY = env.text("FILES_SECRET_KEY", "")
STORAGES = {
    "default": env.files(
        bucket=FILES_BUCKET,
        endpoint_url=FILES_ENDPOINT_URL,
        access_key=FILES_ACCESS_KEY,
        secret_key=FILES_SECRET_KEY,
        region=env.text("FILES_REGION", ""),
        prefix=env.text("FILES_PREFIX", ""),
    ),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
# Limits on people's input and on files; each refusal names the limit.
IMAGE_MAX_BYTES = env.integer("IMAGE_MAX_BYTES", 25 * 1024 * 1024, minimum=1)
IMAGE_MAX_PIXELS = env.integer("IMAGE_MAX_PIXELS", 40_000_000, minimum=1)
ARCHIVE_MAX_BYTES = env.integer("ARCHIVE_MAX_BYTES", 4 * 1024**3, minimum=1)
TABLE_MAX_BYTES = env.integer("TABLE_MAX_BYTES", 512 * 1024 * 1024, minimum=1)
# /readyz fails when fewer bytes are free on the disks of images or of the SQLite file.
READY_FREE_BYTES = env.integer("READY_FREE_BYTES", 200 * 1024 * 1024)
# The token of a Prometheus scraper for /metrics; empty: administrators only.
METRICS_TOKEN = env.text("METRICS_TOKEN", "")
# Addresses for errors and spans, without content; unset: not sent. The names are Sentry's and OpenTelemetry's.
SENTRY_DSN = env.url("SENTRY_DSN")
SENTRY_ENVIRONMENT = env.text("SENTRY_ENVIRONMENT", "production")
OTEL_EXPORTER_OTLP_ENDPOINT = env.url("OTEL_EXPORTER_OTLP_ENDPOINT")
OTEL_EXPORTER_OTLP_HEADERS = env.text("OTEL_EXPORTER_OTLP_HEADERS", "")
OTEL_SERVICE_NAME = env.text("OTEL_SERVICE_NAME", "stereoscope")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# The form of a kind with twenty questions of forty answers sends about 4,000.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

# The broker for Celery's messages, such as redis://localhost:6379/0 or amqp://user:password@localhost:5672//.
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", "")
# Prefix of our queues' names, so that several servers can share a broker.
CELERY_QUEUE_PREFIX = env.text("CELERY_QUEUE_PREFIX", "stereoscope")
# The engine that sends the keys of jobs to workers: Celery if a broker is named, else the database.
TASKS = {
    "default": {
        "BACKEND": env.text(
            "TASKS_BACKEND",
            "jobs.engine.celery_backend.CeleryBackend"
            if CELERY_BROKER_URL
            else "django_tasks_db.DatabaseBackend",
        ),
        "QUEUES": ["default", "gpu"],
    }
}

# Whether machines with a graphics card have workers of their own (`worker --queue gpu`).
GPU_QUEUE = env.flag("GPU_QUEUE", False)

# A worker renews its lease on a job three times in this period; when it dies, the job is free after it.
JOB_LEASE_SECONDS = env.integer("JOB_LEASE_SECONDS", 60, minimum=1)
# A job fails after workers died of it this many times in a row, and waits longer before each new attempt.
JOB_MAX_ATTEMPTS = env.integer("JOB_MAX_ATTEMPTS", 3, minimum=1)
JOB_BACKOFF_SECONDS = env.integer("JOB_BACKOFF_SECONDS", 30)
# Workers are notified again of a job that was not taken for this time although a worker was idle.
JOB_REDELIVER_SECONDS = env.integer("JOB_REDELIVER_SECONDS", 60, minimum=1)
# Further metrics besides those of jobs: functions that return metrics.
METRIC_SOURCES = [
    "foundation.monitoring.counters.collect",
    "annotation.campaigns.gauges.gauges",
    "annotation.recruitment.payments.gauges.gauges",
    "annotation.label_studio.overview.gauges.gauges",
]
# The app of jobs must not import studies, so these settings name functions that return the studies in which a person
# keeps their own jobs, sees all jobs, reads their results, and cancels or retries them.
JOB_STUDIES_OWN = "studies.access.studies_visible_to"
JOB_STUDIES_SEEN = "studies.access.studies_with_visible_jobs"
JOB_STUDIES_READ = "studies.access.studies_with_readable_jobs"
JOB_STUDIES_STEERED = "studies.access.studies_with_jobs_to_steer"

# Called by each worker twice a second, even during a job. Must be fast: it may use only the database.
JOB_INBOXES = ["annotation.recruitment.prolific.freed_screens.free_screens"]
# The time for which an administrator can read a study that they opened by break-glass.
BREAK_GLASS_HOURS = env.integer("BREAK_GLASS_HOURS", 4, minimum=1)

# Called whenever a worker checks for lost jobs: periodic tasks of other apps.
JOB_SWEEPS = [
    "accounts.sign_in.providers.saml.statements.remove_expired",
    "studies.membership.break_glass.end_expired",
    "studies.audit.chain.seal_entries",
    "annotation.watch.notices.look_now_and_then",
    "annotation.watch.stop_rules.apply_now_and_then",
    "annotation.people.letter_queue.sweep",
    "annotation.people.addresses.erase_now_and_then",
    "analysis.planning.precision_looks.look_now_and_then",
    "annotation.recruitment.identities.erase_old",
    "privacy.retention.apply.apply_daily",
    "annotation.recruitment.payments.job_queue.sweep",
    "annotation.recruitment.background.sweep",
    "annotation.label_studio.background.sweep",
    "analysis.releases.storage.zips.remove_leftovers",
    "jobs.uploads.remove_used",
    "annotation.label_studio.format.uploads.remove_used",
    "generation.imports.answers.uploads.remove_used",
]

# An OpenAI-compatible endpoint with models that read images; leads choose a model there, never the address.
VISION_BASE_URL = env.text("VISION_BASE_URL", "")
VISION_API_KEY = env.text("VISION_API_KEY", "")

# Digests of large model files, by size and time, so that files are not read again at every start.
MODEL_DIGESTS = VAR / "model-digests.json"
# Pickled weights can contain code, so they are loaded only if the operator allows it.
ALLOW_PICKLED_WEIGHTS = env.flag("ALLOW_PICKLED_WEIGHTS", False)

# OpenAI-compatible endpoints that generate images. Leads choose among them; the key goes only to the first.
OPENAI_BASE_URLS = env.words("OPENAI_BASE_URLS")
OPENAI_API_KEY = env.text("OPENAI_API_KEY", "")
OPENAI_TIMEOUT_SECONDS = env.integer("OPENAI_TIMEOUT_SECONDS", 180, minimum=1)
OPENAI_IMAGES_AT_ONCE = env.integer("OPENAI_IMAGES_AT_ONCE", 2, minimum=1)
OPENAI_CHATS_AT_ONCE = env.integer("OPENAI_CHATS_AT_ONCE", 32, minimum=1)

# Leads name Label Studio servers. Addresses in our own network are refused unless listed here, each host by its name,
# or all private and loopback addresses.
LABEL_STUDIO_ALLOWED_HOSTS = env.words("LABEL_STUDIO_ALLOWED_HOSTS")
LABEL_STUDIO_ALLOW_PRIVATE = env.flag("LABEL_STUDIO_ALLOW_PRIVATE", False)
LABEL_STUDIO_TIMEOUT_SECONDS = env.integer("LABEL_STUDIO_TIMEOUT_SECONDS", 60, minimum=1)
# Interval at which everything in it is compared with our data; webhooks report most changes at once.
LABEL_STUDIO_RECONCILE_MINUTES = env.integer("LABEL_STUDIO_RECONCILE_MINUTES", 15, minimum=1)

# Prolific's API: the only address to which this server sends a panel's token.
PROLIFIC_URL = env.text("PROLIFIC_URL", "https://api.prolific.com").rstrip("/")

# The mail server; without a host, no e-mails are sent.
EMAIL_HOST = env.text("EMAIL_HOST", "")
EMAIL_PORT = env.integer("EMAIL_PORT", 25, minimum=1)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = env.flag("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "stereoscope@localhost")
# The public address of this server, for links in letters.
SITE_URL = env.text("SITE_URL", "").rstrip("/")

# Called with an annotator whose profile was saved, in the same transaction.
PROFILE_CHANGED = "annotation.assignment.slots.profile_changed"
# Called with a field and the typed words; returns the code of a people or region that only a study has.
PROFILE_OWN_CODES = "studies.protocol.unlisted_codes.code_of"

# Called with an enrolment that a panel limits; returns the page on which its work ends.
PANEL_PAGE = "annotation.recruitment.panel.views.page_of"
# Called with the same enrolment; returns the pay of its annotator's place, for the line above each task.
PANEL_PLACE = "annotation.recruitment.places.shown_place"

# Pages about people’s data, to which pages of lower apps link.
OWN_DATA_PAGE = "own_data:overview"
ERASE_ANNOTATOR_PAGE = "privacy:erase_annotator"

# Time after sending a bonus during which the panel must not show it before a person may send it again.
PANEL_BONUS_SECONDS = env.integer("PANEL_BONUS_SECONDS", 3600, minimum=1)

# An image's address works at least this long after a page with it was opened.
IMAGE_URL_MINUTES = env.integer("IMAGE_URL_MINUTES", 12 * 60, minimum=1)

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
HTTPS = env.flag("HTTPS", False)
# Networks of proxies whose headers about visitors' addresses are trusted; "none" means that there is no proxy.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
# Health checks reach the server directly, without the proxy that terminates TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "stereoscope_session"
CSRF_COOKIE_NAME = "stereoscope_csrf"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.permissions.HasScope", "studies.access.HasRight"],
    "DEFAULT_PAGINATION_CLASS": "web.api.pagination.IdCursorPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "web.api.errors.exception_handler",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["web.api.parsers.StorableJSONParser"],
    # OPTIONS would list the fields and choices of every view to any signed-in user; the schema depends on roles.
    "DEFAULT_METADATA_CLASS": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Stereoscope API",
    "DESCRIPTION": "Studies, campaigns, annotation and results.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "CampaignKind": "annotation.kinds.registry.CHOICES",
        "CleanupKind": "annotation.label_studio.pull.cleanup.KINDS",
        "LabelStudioAnswerState": "annotation.label_studio.models.LabelStudioAnnotation.State",
        "TaskKind": "annotation.kinds.registry.TASK_KINDS",
    },
    # Swagger's files come from our own server, so the page works offline and under the content security policy.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} {context}{message}", "style": "{"},
        "json": {"()": "foundation.monitoring.log_context.JsonFormatter"},
        "syslog": {"format": "stereoscope-audit: {message}", "style": "{"},
    },
    "filters": {
        "context": {"()": "foundation.monitoring.log_context.ContextFilter"},
        "outages": {"()": "foundation.database.outages.OutageFilter"},
        "queries": {"()": "foundation.redaction.QueryFilter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("LOG_FORMAT", "line", among=("line", "json")),
            "filters": ["outages", "context"],
        },
        "audit": env.syslog("AUDIT_SYSLOG"),
        "sentry": {
            "class": "foundation.monitoring.sentry.SentryHandler",
            "dsn": SENTRY_DSN,
            "environment": SENTRY_ENVIRONMENT,
        }
        if SENTRY_DSN
        else {"class": "logging.NullHandler"},
    },
    "loggers": {
        # Entries of the audit trail, only with ids and digests; not sent unless AUDIT_SYSLOG is set.
        "stereoscope.audit": {"level": "INFO", "handlers": ["audit"], "propagate": False},
        # It would log response headers, which may contain secrets.
        "httpcore": {"level": "INFO"},
        # It logs addresses; panels' addresses contain ids of people.
        "django.server": {
            "level": "INFO",
            "handlers": ["console"],
            "filters": ["queries"],
            "propagate": False,
        },
    },
    # Sentry first: the filter of the console removes errors from records.
    "root": {"handlers": ["sentry", "console"], "level": env.text("LOG_LEVEL", "WARNING")},
}

# Shown on the landing page of a demo, and created by `seed_demo`; never used elsewhere.
DEMO_ACCOUNTS = [
    {"role": "lead", "username": "lead", "password": "stereoscope-lead"},
    {"role": "coordinator", "username": "coordinator", "password": "stereoscope-coordinator"},
    {"role": "data steward", "username": "steward", "password": "stereoscope-steward"},
    {"role": "analyst", "username": "analyst", "password": "stereoscope-analyst"},
    {"role": "annotator", "username": "annotator", "password": "stereoscope-annotator"},
]
