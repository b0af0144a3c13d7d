# The large image: background workers with the model code of generation and scoring. Models are kept in a volume.
FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
ENV PYTHONUNBUFFERED=1 STEREOSCOPE_VAR=/var/lib/stereoscope HF_HOME=/var/lib/stereoscope/models
WORKDIR /app
# yes: with what SENTRY_DSN and OTEL_EXPORTER_OTLP_ENDPOINT need.
ARG OBSERVABILITY=no
COPY requirements.txt ./
COPY requirements/ requirements/
RUN pip install --no-cache-dir -r requirements.txt \
    && if [ "$OBSERVABILITY" = yes ]; then pip install --no-cache-dir -r requirements/observability.txt; fi \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/stereoscope stereoscope \
    && install --directory --owner=10001 /var/lib/stereoscope/models
COPY manage.py ./
COPY platform/ platform/
COPY generation/ generation/
COPY annotation/ annotation/
COPY analysis/ analysis/
COPY locale/ locale/
RUN python -m compileall -q platform generation annotation analysis
USER 10001
HEALTHCHECK --interval=60s --timeout=30s --start-period=60s CMD ["python", "manage.py", "check_worker"]
CMD ["python", "manage.py", "worker"]
