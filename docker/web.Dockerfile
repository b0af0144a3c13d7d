# The lean image: web server and what prepares the database. No model code, no files of its own.
FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
ENV PYTHONUNBUFFERED=1 STEREOSCOPE_VAR=/var/lib/stereoscope STATIC_COLLECTED=yes
# pg_dump and pg_restore, for backups; at least as new as the database. Debian keeps only the latest of a major version.
# Pango and a font, for reports as PDF.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-17 \
        libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# yes: with what SENTRY_DSN and OTEL_EXPORTER_OTLP_ENDPOINT need.
ARG OBSERVABILITY=no
# yes: with what SAML_METADATA_FILE needs.
ARG SAML=no
COPY requirements/ requirements/
RUN pip install --no-cache-dir -r requirements/web.txt \
    && pip install --no-cache-dir --no-deps -r requirements/label-studio-client.txt \
    && if [ "$OBSERVABILITY" = yes ]; then pip install --no-cache-dir -r requirements/observability.txt; fi \
    && if [ "$SAML" = yes ]; then pip install --no-cache-dir -r requirements/saml.txt; fi \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/stereoscope stereoscope
COPY manage.py ./
COPY platform/ platform/
COPY generation/ generation/
COPY annotation/ annotation/
COPY analysis/ analysis/
COPY locale/ locale/
RUN python -m compileall -q platform generation annotation analysis
USER 10001
# The key is for this step only: scripts and styles need none, and none may lie in an image.
RUN SECRET_KEY=unused python manage.py collectstatic --noinput --verbosity 0
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
CMD ["python", "-m", "gunicorn", "config.wsgi", "--pythonpath", "platform", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4", "--keep-alive", "60", "--preload"]
