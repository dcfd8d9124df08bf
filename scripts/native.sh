#!/bin/sh
# Build (or lint) the Rust extension in native/. Without a toolchain or without crates it says so in one line and
# succeeds: everything in Python works without it.
set -u
cd "$(dirname "$0")/.."
stamp=.venv/.native
log=native/target/build.log

if ! command -v cargo >/dev/null; then
    echo "native: skipped, no Rust toolchain (cargo not found); install it from rustup.rs to build overclock-native"
    exit 0
fi
mkdir -p native/target

case "${1:-build}" in
build)
    if [ -f "$stamp" ] && [ -z "$(find native -path native/target -prune -o -type f -newer "$stamp" -print)" ]; then
        exit 0
    fi
    echo "building overclock-native (once)"
    if .venv/bin/python -m pip install --disable-pip-version-check --constraint requirements.lock --force-reinstall --no-deps ./native >"$log" 2>&1; then
        touch "$stamp"
    else
        rm -f "$stamp"
        echo "native: not built, $(grep -m 1 -iE '^ *error' "$log" | sed 's/^ *//' || echo 'the build failed') (whole log: $log)"
    fi
    ;;
lint)
    cd native && cargo fmt --check && cargo clippy --quiet --all-targets --locked -- -D warnings
    ;;
esac
