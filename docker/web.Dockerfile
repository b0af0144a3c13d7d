# The lean image: web server and background worker, no model code.
FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 STEREOSCOPE_VAR=/var/lib/stereoscope
WORKDIR /app
COPY requirements/ requirements/
RUN pip install --no-cache-dir -r requirements/web.txt \
    && useradd --system --create-home --home-dir /var/lib/stereoscope stereoscope
COPY manage.py ./
COPY platform/ platform/
COPY generation/ generation/
COPY annotation/ annotation/
COPY analysis/ analysis/
COPY locale/ locale/
USER stereoscope
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["python", "-m", "gunicorn", "config.wsgi", "--pythonpath", "platform", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4", "--keep-alive", "60"]
