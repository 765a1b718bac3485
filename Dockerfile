# The service in two stages: wheels are built with a compiler, and installed without one.
FROM python:3.12-slim AS builder
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md ./
COPY solvers solvers
COPY service service
COPY clients clients
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[service]"

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home lowtide \
    && install --directory --owner=lowtide --group=lowtide /data
# A mount, so that the wheels themselves are no layer of the image.
RUN --mount=type=bind,from=builder,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links=/wheels "lowtide[service]"
USER lowtide
WORKDIR /data
ENV LOWTIDE_HOST=0.0.0.0 \
    LOWTIDE_PORT=8000 \
    LOWTIDE_DATABASE_PATH=/data/lowtide.sqlite3
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-m", "lowtide_service.healthcheck"]
CMD ["python", "-m", "lowtide_service"]
