# The program and the Python package, without a compiler: docker build --tag dp-audit .
#
#   docker run --rm -v "$PWD":/work dp-audit run                     audits in the folder audits/ here
#   docker run --rm --entrypoint python -v "$PWD":/work dp-audit first.py
#
# docs/security.md has the options for a stranger's audits.
FROM rust:1.90-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv \
    && python3 -m venv /tools && /tools/bin/pip install --no-cache-dir "maturin>=1.16,<2"
WORKDIR /source
COPY . .
RUN PATH="/tools/bin:$PATH" scripts/wheel.sh --out /wheels --interpreter python3 --compatibility linux

FROM python:3.13-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir /wheels/*.whl && useradd --create-home auditor
USER auditor
WORKDIR /work
ENTRYPOINT ["dp-audit"]
CMD ["--help"]
