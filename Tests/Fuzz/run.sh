#!/usr/bin/env bash
# Lets libFuzzer attack the decoders that read bytes from outside. Run by 'make fuzz'. Usage: run.sh [TARGET [SECONDS]]
# all targets, one after another, a minute each, if none is named What it finds is left in .build/fuzz/found;
# docs/reliability.md says what to do with it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
targets=${1:-xml export cbor json push}
seconds=${2:-60}
build=.build/fuzz

for target in $targets; do
    [ -d "$here/Corpus/$target" ] || { echo "there is no target '$target'; there are: $(ls "$here/Corpus" | xargs)" >&2; exit 2; }
done

# With only --sanitize, libFuzzer's counters aren't added to Swift code. A separate build: every module with libFuzzer's
# counters and AddressSanitizer's checks.
HEALTHBUS_WITH_FUZZER=1 "${SWIFT:-swift}" build --configuration release --no-color-diagnostics --scratch-path $build \
    --sanitize fuzzer --sanitize address --product healthbus-fuzz \
    -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp

# A crash ends the program at once, since the toolchain's backtracer can hang. Freed memory isn't retained for long,
# because it counts towards the memory limit.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=quarantine_size_mb=16
status=0
for target in $targets; do
    grown=$build/grown/$target
    mkdir -p "$grown" $build/found
    echo "$target: $seconds s"
    # New inputs go to the first folder; the second is the one in the repository.
    HEALTHBUS_FUZZ=$target $build/release/healthbus-fuzz -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -max_len=4096 \
        -entropic_scale_per_exec_time=1 -print_final_stats=1 -artifact_prefix="$build/found/$target-" "$grown" "$here/Corpus/$target" \
        > "$build/$target.log" 2>&1 || {
        status=1
        echo "$target: something was found; its end in $build/$target.log:" >&2
        tail -n 30 "$build/$target.log" >&2
    }
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec|slowest_unit_time_sec|peak_rss_mb)' "$build/$target.log" || true
done
exit $status
