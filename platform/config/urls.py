"""All addresses of the site, by app."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularSwaggerSplitView as SwaggerView

from accounts.pages.sign_in import admin_sign_in
from accounts.rights import Capability, requires
from front import health
from front.views import home
from jobs.pages.metrics import metrics
from studies.api.schema import Schema
from web import views

urlpatterns = [
    path("api/v1/", include("config.api_urls")),  # the most frequent addresses first
    path("", home, name="home"),
    path("account/", include("accounts.pages.urls")),
    path("account/", include("accounts.pages.allauth_urls")),
    path("resources/", include("catalog.pages.urls")),
    path("jobs/", include("jobs.pages.urls")),
    path("studies/", include("front.studies.urls")),
    path("studies/<slug:study>/", include("generation.pages.urls")),
    path("studies/<slug:study>/", include("annotation.urls")),
    path("studies/<slug:study>/", include("privacy.pages.lead_urls")),
    path("studies/<slug:study>/results/", include("analysis.pages.results.urls")),
    path("studies/<slug:study>/plan/", include("analysis.pages.planning.urls")),
    path("studies/<slug:study>/releases/", include("analysis.pages.releases.urls")),
    path("studies/<slug:study>/scoring/", include("analysis.pages.scoring.urls")),
    path("annotate/panel/", include("annotation.recruitment.panel.urls")),
    path("annotate/your-data/", include("privacy.pages.urls")),
    path("annotate/", include("annotation.annotator.urls")),
    path("language/", set_language, name="set_language"),
    path("images/", include("generation.pages.signed_image_urls")),
    path("pictures/", include("annotation.label_studio.urls")),
    path("api/schema/", Schema.as_view(), name="api-schema"),
    path(
        "api/docs/",
        requires(get=Capability.ANYONE)(
            SwaggerView.as_view(url_name="api-schema", template_name="web/api_docs.html")
        ),
        name="api-docs",
    ),
    path("gallery/", requires(get=Capability.ADMINISTER)(views.gallery), name="gallery"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    # This page throttles the old password; the admin's own page would allow guessing.
    path(
        "admin/password_change/",
        requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)(
            RedirectView.as_view(pattern_name="accounts:password")
        ),
    ),
    # This page requires a second factor and counts wrong passwords as elsewhere.
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
]
handler404 = "web.views.page_not_found"
handler500 = "web.views.server_error"
