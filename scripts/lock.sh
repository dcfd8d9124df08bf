#!/bin/sh
# Resolve every extra (except cuda, which follows the driver) for every supported Python and write the versions to requirements.lock.
set -eu
trap 'rm -f requirements.lock.new' EXIT
cd "$(dirname "$0")/.."
.venv/bin/python -m pip install --quiet uv
{
    echo "# Every package \`make\` installs, at the version it was tested with. Written by \`make lock\`; used as pip constraints."
    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
        --extra test --extra lint --extra docs pyproject.toml | grep -v '^overclock'
} >requirements.lock.new
mv requirements.lock.new requirements.lock
