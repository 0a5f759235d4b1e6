#!/bin/sh
# Install packages into a virtual environment: with uv where it is there, else with pip.
#   sh tools/install.sh PYTHON REQUIREMENT...
set -eu
python=$1
shift
if command -v uv >/dev/null 2>&1; then
    exec uv pip install --quiet --python "$python" "$@"
fi
exec "$python" -m pip install --quiet --disable-pip-version-check "$@"
