#!/bin/sh
# Build (or lint, or fuzz) the Rust extension in native/. Without a toolchain or without crates it says so in one line and
# succeeds: everything in Python works without it.
set -u
cd "$(dirname "$0")/.."
installed=.venv/.native wheel=native/target/wheel
log=native/target/build.log

if ! cargo --version >/dev/null 2>&1; then
    [ "${1:-build}" = wheel ] || echo "native: skipped, no working Rust toolchain (\`cargo --version\` fails); install it from rustup.rs to build overclock-native"
    exit 0
fi
mkdir -p native/target

older() { # than a source, or not there at all
    [ ! -f "$1" ] || [ -n "$(find native \( -path native/target -o -path native/fuzz \) -prune -o -type f -newer "$1" -print)" ]
}

pip() {
    .venv/bin/python -m pip "$@" --disable-pip-version-check --constraint requirements.lock --no-deps >"$log" 2>&1
}

compile() { # into a wheel, which writes nothing where another pip may be writing
    older "$wheel/.built" || return 0
    echo "building overclock-native (once)"
    rm -rf "$wheel"
    pip wheel --wheel-dir "$wheel" ./native && touch "$wheel/.built"
}

case "${1:-build}" in
wheel) # ahead of `build`, which says what went wrong
    if older "$installed"; then compile; fi
    exit 0
    ;;
build)
    older "$installed" || exit 0
    rm -f "$installed"
    if compile && pip install --force-reinstall "$wheel"/*.whl; then
        touch "$installed"
    else
        reason=$(grep -E '^ *error' "$log" | grep -v subprocess-exited | head -n 1 | sed 's/^ *//')
        echo "native: not built, ${reason:-the build failed} (whole log: $log)"
    fi
    ;;
lint)
    cd native || exit 1
    if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
        echo "native: not linted, rustfmt or clippy is missing; run \`rustup component add rustfmt clippy\`"
    elif ! cargo fetch --quiet --locked >/dev/null 2>&1; then
        echo "native: not linted, the crates of Cargo.lock cannot be fetched"
    else
        cargo fmt --check && cargo fmt --check --manifest-path fuzz/Cargo.toml &&
            cargo clippy --quiet --all-targets --locked -- -D warnings
    fi
    ;;
fuzz)
    cd native || exit 1
    if ! cargo fuzz --version >/dev/null 2>&1; then
        echo "native: not fuzzed, cargo-fuzz is missing; run \`cargo install cargo-fuzz --locked\`"
        exit 0
    fi
    # No sanitizer, which would need a nightly compiler: there is no unsafe code, and a debug build's checks are on.
    for target in rom run; do
        cargo fuzz run --sanitizer none --fuzz-dir fuzz --target-dir target/fuzz "$target" -- \
            -max_total_time="${2:-60}" -max_len=2048 -len_control=0 -timeout=60 -print_final_stats=1 \
            >target/fuzz.log 2>&1 || { tail -n 60 target/fuzz.log; exit 1; }
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' target/fuzz.log)
        echo "native: fuzzed '$target' for ${2:-60} s, $runs inputs, nothing found"
    done
    ;;
esac
