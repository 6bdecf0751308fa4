#!/bin/sh
# Collects what goes into the image: the programs, and one copy of the Swift toolchain libraries that they need. Static
# linking would put a copy of Foundation and of ICU's data into each program.
#
# stage.sh <folder of the built programs> <folder to fill>
set -eu
bin=$1
out=$2
mkdir -p "$out"
for program in "$bin"/healthbus "$bin"/healthbus-*; do
    [ -f "$program" ] && [ -x "$program" ] && [ ! -L "$program" ] || continue
    # This program only measures a build on the machine that made it, so it isn't copied.
    [ "$(basename "$program")" != healthbus-bench ] || continue
    install -m 0755 "$program" "$out/"
    strip "$out/$(basename "$program")"
done
# The programs find the libraries there through $ORIGIN in their run path.
for program in "$out"/healthbus*; do ldd "$program"; done | awk '$3 ~ /\/swift\/linux\// { print $3 }' | sort -u |
    while read -r library; do
        install -m 0644 "$library" "$out/"
        strip --strip-unneeded "$out/$(basename "$library")"
    done
make --no-print-directory install-manifests BIN="$out"
mkdir -p "$out/containers"
install -m 0755 containers/sbom.sh containers/keys.sh "$out/containers/"
swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1 > "$out/containers/swift-version"
