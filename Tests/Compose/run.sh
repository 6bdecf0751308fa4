#!/usr/bin/env bash
# A test of the real thing: it builds the image, starts the stack of docker-compose.yml, imports 200,000 samples, swaps
# a handler, kills every container, cuts a network, replaces the image, and compares the result with that of one process
# tree on the same export. Then it does the same with PostgreSQL, which is enabled by its profile and killed in the
# middle. `make test-compose`.
#
# Needs a Docker engine, compose (either version), python3. Each wait for a condition has a deadline; any failure ends
# the script with status 1.
#   HEALTHBUS_BACKEND_PORT   a free port on this machine (18787)
#   HEALTHBUS_INGEST_PORT    another (18788)
#   HEALTHBUS_DASHBOARD_PORT another (18789)
#   DOCKER_BUILD_FLAGS       more options for docker build
set -euo pipefail
cd "$(dirname "$0")/../.."
export COMPOSE_PROJECT_NAME=${COMPOSE_PROJECT_NAME:-healthbus-test-$$}
export HEALTHBUS_BACKEND_PORT=${HEALTHBUS_BACKEND_PORT:-18787}
export HEALTHBUS_INGEST_PORT=${HEALTHBUS_INGEST_PORT:-18788}
export HEALTHBUS_DASHBOARD_PORT=${HEALTHBUS_DASHBOARD_PORT:-18789}
export HEALTHBUS_IMAGE=healthbus:test HEALTHBUS_POSTGRES_IMAGE=healthbus-postgres:test HEALTHBUS_ZONE=Europe/Berlin
unset HEALTHBUS_CONFIG
if docker compose version >/dev/null 2>&1; then compose=(docker compose); else compose=(docker-compose); fi
work=$(mktemp -d "${TMPDIR:-/tmp}/healthbus-compose.XXXXXX")
chmod 0777 "$work"
mapfile -t processes < <("${compose[@]}" config --services | grep -vxE 'keys|cli|postgres|postgres-server')
cut_network=

say() { printf 'compose: %s\n' "$*" >&2; }
die() { say "FAILED: $*"; exit 1; }
quietly() { "$@" >"$work/last.log" 2>&1 || { cat "$work/last.log" >&2; die "$*"; }; }
now() { date +%s%N | cut -c1-13; }
container() { "${compose[@]}" ps -q "$1"; }
cli() { "${compose[@]}" run --rm -T cli "$@"; }
cleanup() {
    result=$?
    if [[ $result -ne 0 ]]; then "${compose[@]}" logs --tail=40 >"$work/logs.txt" 2>&1 || true; tail -n 60 "$work/logs.txt" >&2; fi
    "${compose[@]}" --profile tools --profile postgres down -v --remove-orphans >/dev/null 2>&1 || true
    rm -rf "$work"
    exit "$result"
}
trap cleanup EXIT

# until_true SECONDS WHAT COMMAND…: tries the command until it succeeds.
until_true() {
    local deadline=$(($(now) + $1 * 1000)) what=$2
    shift 2
    until "$@" >"$work/try.log" 2>&1; do
        (($(now) < deadline)) || { cat "$work/try.log" >&2; die "not in time: $what"; }
        sleep 0.5
    done
}

build() { quietly docker build ${DOCKER_BUILD_FLAGS:-} --build-arg "HEALTHBUS_VERSION=$1" -t "$HEALTHBUS_IMAGE" .; }

# According to `status`, everything is imported, computed, final and delivered.
settled() {
    cli status --json >"$work/status.json" && python3 - "$work/status.json" <<'PY'
import json, sys
status = json.load(open(sys.argv[1]))
down = [p["name"] for p in status["processes"] if p["state"] != "ready"]
lag = max([value for p in status["processes"] for value in p["lag"].values()] or [0])
print("pending", status["pending"], "lag", lag, "down", down, "dead letters", status["deadLetters"])
sys.exit(status["pending"] != 0 or lag != 0 or down != [] or status["deadLetters"] != 0)
PY
}

# The daily summaries, without the count of how often each day had become final before.
days() {
    python3 - "$1" <<'PY'
import json, sys
days = json.load(open(sys.argv[1]))
for day in days:
    del day["revision"]
print(json.dumps(days, sort_keys=True, indent=1))
PY
}

all_final() { cli days --json --from 1990-01-01 >"$work/days.json" && ! grep -q '"final" *: *false' "$work/days.json" && [[ $(days "$work/days.json" | wc -l) -gt 10 ]]; }
same_days() { all_final && days "$work/days.json" >"$work/days.found" && diff "$work/expected.days" "$work/days.found"; }

# The backend's samples that aren't deleted, compared with the observer's, by type.
delivered() {
    local token
    token=$(docker exec "$(container backend)" cat /var/lib/healthbus/secrets/backend-token)
    curl -sf -H "Authorization: Bearer $token" "http://127.0.0.1:$HEALTHBUS_BACKEND_PORT/api/v1/stats" >"$work/stats.json"
    cli check --json >"$work/check.json"
    python3 - "$work/stats.json" "$work/check.json" <<'PY'
import json, sys
stats, check = (json.load(open(name)) for name in sys.argv[1:3])
ours = {row["type"]: row["samples"] for row in check["completeness"] if row["samples"]}
theirs = {name: rows["alive"] for name, rows in stats["types"].items() if rows["alive"]}
workouts = ours.pop("HKWorkoutTypeIdentifier", 0)
wrong = {name: (ours.get(name), theirs.get(name)) for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
print("differs (observer, backend):", wrong)
sys.exit(wrong != {})
PY
}

killed_by_the_system() {
    local pid
    pid=$(docker inspect -f '{{.State.Pid}}' "$1")
    docker run --rm --pid host --user 0 --entrypoint sh "$HEALTHBUS_IMAGE" -c "kill -9 $pid"
}
restarted() { [[ $(docker inspect -f '{{.RestartCount}} {{.State.Running}}' "$1") == "$2 true" ]]; }

say "building $HEALTHBUS_IMAGE"
build 1
size=$(docker image inspect -f '{{.Size}}' "$HEALTHBUS_IMAGE")
say "image: $((size / 1000000)) MB"
((size < 350000000)) || die "the image is larger than 350 MB"
docker run --rm --entrypoint cat "$HEALTHBUS_IMAGE" /usr/share/doc/healthbus/sbom.spdx.json >"$work/sbom.json"
python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); assert len(s["packages"]) > 50; print("compose: SBOM of", len(s["packages"]), "packages", file=sys.stderr)' "$work/sbom.json"
if docker run --rm --entrypoint sh "$HEALTHBUS_IMAGE" -c 'command -v gcc || command -v swift || command -v make'; then die "build tools in the image"; fi

say "the same export in one process tree"
quietly docker run --rm -v "$work:/work" "$HEALTHBUS_IMAGE" generate --days 365 --records 200000 --seed 7 -o /work/export.zip
quietly docker run --rm -v "$work:/work" -e HEALTHBUS_STATE=/work/embedded -e HEALTHBUS_LOG=text "$HEALTHBUS_IMAGE" \
    up --import /work/export.zip --zone Europe/Berlin --until-idle
docker run --rm -v "$work:/work" -e HEALTHBUS_STATE=/work/embedded "$HEALTHBUS_IMAGE" days --json --from 1990-01-01 >"$work/expected.json"
days "$work/expected.json" >"$work/expected.days"
quietly docker run --rm -v "$work:/work" --entrypoint rm "$HEALTHBUS_IMAGE" -rf /work/embedded

say "up"
started=$(now)
quietly "${compose[@]}" up -d --no-build
created=$(now)
quietly cli ready --within 30
ready=$(now)
say "up returned after $((created - started)) ms; ready was seen $((ready - created)) ms later (a container for the question included)"
((ready - started < 10000)) || die "not ready within 10 s of up"

say "who has a token is let in"
pushed() {
    curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" -H 'Content-Type: application/json' -d '{"samples": []}' \
        "http://127.0.0.1:$HEALTHBUS_INGEST_PORT/v1/samples"
}
token=$(docker exec "$(container ingest)" healthbus token new 2>/dev/null)
[[ $(pushed "$token") == 200 ]] || die "what is pushed isn't taken"
[[ $(pushed hbt_nobody) == 401 ]] || die "whoever comes is let in"
shown() { curl -s -o /dev/null -w '%{http_code}' "$1"; }
until_true 30 "the dashboard answers" curl -s -o /dev/null "http://127.0.0.1:$HEALTHBUS_DASHBOARD_PORT/"
[[ $(shown "http://127.0.0.1:$HEALTHBUS_DASHBOARD_PORT/") == 401 ]] || die "whoever comes sees the dashboard"
link=$(docker exec "$(container dashboard)" healthbus open)
[[ $link == "http://127.0.0.1:$HEALTHBUS_DASHBOARD_PORT/"* && $(shown "$link") == 200 && $(shown "$link") == 401 ]] || die "$link doesn't sign in once"

"${compose[@]}" run --rm -T --name "$COMPOSE_PROJECT_NAME-tap" cli tap --json figures. daily. observed. >"$work/tap.jsonl" 2>"$work/tap.err" &
tap=$!
say "import of 200,000 samples through the bus, while every container is killed once"
cli import --json - <"$work/export.zip" >"$work/import.json" 2>"$work/import.err" &
import=$!
begun() { [[ ! -e /proc/$import ]] || docker exec "$(container observer)" sh -c 'ls /var/lib/healthbus/observer/inbox | grep -q .'; }
until_true 30 "the import begins" begun
mapfile -t behind_hub < <(printf '%s\n' "${processes[@]}" | grep -vx hub)
for name in "${behind_hub[@]}" hub; do
    id=$(container "$name")
    quietly killed_by_the_system "$id"
    until_true 60 "$name is started again" restarted "$id" 1
done
wait "$import" || { cat "$work/import.err" >&2; die "the import"; }
python3 -c 'import json, sys; f = json.load(open(sys.argv[1]))["files"][0]; print("compose: read", f["read"], "added", f["added"], file=sys.stderr); sys.exit(f["added"] < 199000)' "$work/import.json" || die "the import added too little"
until_true 180 "all is delivered" settled
until_true 60 "the days of the process tree" same_days
until_true 60 "the backend has all samples, once" delivered
docker stop -t 5 "$COMPOSE_PROJECT_NAME-tap" >/dev/null 2>&1 || true
wait "$tap" || true
for topic in figures. daily. observed.; do grep -q "\"topic\":\"$topic" "$work/tap.jsonl" || die "the tap heard no $topic"; done
say "all there, once, as in the process tree; the tap heard $(wc -l <"$work/tap.jsonl") messages"

say "two containers on one volume"
if cli_output=$(docker run --rm --network none -v "${COMPOSE_PROJECT_NAME}_steps:/var/lib/healthbus" -v "${COMPOSE_PROJECT_NAME}_keys-steps:/var/lib/healthbus-keys/steps:ro" \
    -e HEALTHBUS_CONFIG=/usr/lib/healthbus/configs/compose.json "$HEALTHBUS_IMAGE" run steps 2>&1); then die "a second steps ran"; fi
grep -Eq "already run(s|ning)" <<<"$cli_output" || die "no word of the lock: $cli_output"
if cli_output=$(docker run --rm --network none -v "${COMPOSE_PROJECT_NAME}_steps:/var/lib/healthbus" -v "${COMPOSE_PROJECT_NAME}_keys-steps:/var/lib/healthbus-keys/steps:ro" \
    -e HEALTHBUS_CONFIG=/usr/lib/healthbus/configs/compose.json "$HEALTHBUS_IMAGE" run steps --takeover 2>&1); then die "a takeover across containers"; fi
grep -q "another container" <<<"$cli_output" || die "no word of the other container: $cli_output"

say "steps swapped for the Python example, and a network cut for 20 s"
id=$(container sleep)
cut_network=${COMPOSE_PROJECT_NAME}_bus
quietly docker network disconnect "$cut_network" "$id"
cut_at=$(now)
quietly "${compose[@]}" exec -T steps healthbus swap steps --with steps-python --within 120
plugin_is() { cli tap --json --count 1 heartbeat.steps >"$work/beat.json" && grep "\"plugin\":\"$1\"" "$work/beat.json"; }
sleep_is() { cli tap --json --count 1 heartbeat.sleep >"$work/beat.json" && grep "\"plugin\":\"$1\"" "$work/beat.json"; }
until_true 60 "steps is the Python example" plugin_is steps-python
while (($(now) - cut_at < 20000)); do sleep 0.2; done
quietly docker network connect --alias sleep "$cut_network" "$id"
until_true 120 "all is well again" settled
until_true 60 "the same days, by Python" same_days

say "sleep swapped for the Python example, and back; a plugin without nights is refused"
quietly "${compose[@]}" exec -T sleep healthbus swap sleep --with sleep-python --within 120
until_true 60 "sleep is the Python example" sleep_is sleep-python
until_true 120 "all is well again" settled
until_true 60 "the same days, by Python" same_days
quietly docker exec -i "$(container sleep)" sh -c 'mkdir -p /var/lib/healthbus/none && cat >/var/lib/healthbus/none/plugin.json' < <(
    python3 -c 'import json; m = json.load(open("plugins/examples/sleep-python/plugin.json")); m.update(name="none"); print(json.dumps(m))')
docker exec -i "$(container sleep)" sh -c 'cat >/var/lib/healthbus/none/handler.py' <<'PY'
import json, sys
for line in map(json.loads, sys.stdin):
    if "hello" in line:
        print(json.dumps({"hello": {"protocol": 1, "name": "none", "version": 1}}), flush=True)
    elif "day" in line:
        day = line["day"]
    elif "compute" in line:
        print(json.dumps({"done": day["date"], "user": day["user"]}), flush=True)
PY
if refused=$("${compose[@]}" exec -T sleep healthbus swap sleep --with /var/lib/healthbus/none --within 120 2>&1); then die "a plugin without nights took over"; fi
grep -q "would delete" <<<"$refused" || die "no word of the nights: $refused"
quietly "${compose[@]}" exec -T sleep healthbus swap sleep --back --within 120
until_true 60 "sleep is itself again" sleep_is sleep
until_true 120 "all is well again" settled
until_true 60 "the same days" same_days

say "heart-rate scaled to zero and back, with an import between"
quietly "${compose[@]}" stop heart-rate
quietly docker run --rm -v "$work:/work" "$HEALTHBUS_IMAGE" generate --days 370 --records 203000 --seed 7 -o /work/newer.zip
quietly cli import --json - <"$work/newer.zip"
quietly "${compose[@]}" start heart-rate
until_true 180 "all is computed and delivered" settled
until_true 60 "every day is final" all_final
until_true 60 "the backend has all samples, once" delivered
days "$work/days.json" >"$work/expected.days"

say "at rest"
sleep 20
running() { for name in "${processes[@]}"; do container "$name"; done; }
mapfile -t ids < <(running)
docker stats --no-stream --format '{{.MemUsage}}' "${ids[@]}" >"$work/stats.txt"
# Nanoseconds of processor time of all processes, as counted by the kernel. One helper that sees them all reads this,
# since a command in each container would cost more than what is measured.
usage() {
    docker run --rm --pid host --network none --user 0 --entrypoint sh "$HEALTHBUS_IMAGE" -c \
        'for pid in "$@"; do cat /proc/"$pid"/task/*/schedstat || exit 1; done' sh "${pids[@]}" | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
mapfile -t pids < <(for id in "${ids[@]}"; do docker top "$id" -o pid | tail -n +2; done)
before=$(usage)
rested_at=$(now)
sleep 60
after=$(usage)
awk -v used="$((after - before))" -v time="$(($(now) - rested_at))" -v count="${#pids[@]}" '
    { memory += $1 * ($1 ~ /GiB/ ? 1024 : $1 ~ /KiB/ ? 1 / 1024 : 1) }
    END {
        share = used / time / 10000
        printf "compose: %d processes, %.2f %% of a core, %.0f MiB\n", count, share, memory
        exit share <= 0 || share > 0.5 || memory > 250
    }' "$work/stats.txt" >&2 || die "more than 0.5 % of a core or 250 MiB at rest"

# What must survive a change of containers and image: the store and its head, every consumer's anchor, what is pending
# in the background, and the tasks together with what they wait for.
kept() {
    cli tap --json --count 40 heartbeat. >"$work/beats.jsonl" 2>/dev/null
    cli tasks list --json >"$work/tasks.json"
    python3 - "$work/beats.jsonl" "$work/tasks.json" <<'PY'
import json, sys
beats = {row["topic"]: row["body"] for row in map(json.loads, open(sys.argv[1]))}
for topic, body in sorted(beats.items()):
    print(topic, body.get("head"), body.get("frontier"), body["details"].get("pending"))
for task in json.load(open(sys.argv[2])):
    print(task["id"], task["state"], task.get("request"), task["history"])
PY
}
# Types that fired and are waiting, and the task that will release them.
waiting() { kept >"$work/kept.txt" && grep -q "^heartbeat.debouncer .* [1-9][0-9]*$" "$work/kept.txt" && grep -q "^healthkit-sync pending" "$work/kept.txt"; }
same_kept() { kept >"$work/kept.found" && diff "$work/kept.txt" "$work/kept.found"; }

say "an import while the app is in the background, and nobody launches its tasks"
chmod 0755 "$work"
docker run --rm --entrypoint cat "$HEALTHBUS_IMAGE" /usr/lib/healthbus/configs/compose.json >"$work/compose.json"
python3 - "$work" <<'PY'
import json, sys
lines = [line for line in open(sys.argv[1] + "/compose.json") if not line.lstrip().startswith("//")]
stack = json.loads("".join(lines))
stack["instances"]["debouncer"] = {"configuration": {"launch": "device"}}
json.dump(stack, open(sys.argv[1] + "/stack.json", "w"))
PY
cat >"$work/override.yml" <<YML
services:
  debouncer:
    environment: { HEALTHBUS_CONFIG: /etc/healthbus/stack.json }
    volumes: ["$work/stack.json:/etc/healthbus/stack.json:ro"]
YML
compose+=(-f docker-compose.yml -f "$work/override.yml")
quietly "${compose[@]}" up -d --no-build --no-deps debouncer
quietly cli device set app=background
quietly docker run --rm -v "$work:/work" --user 0 "$HEALTHBUS_IMAGE" generate --days 372 --records 204000 --seed 7 -o /work/newest.zip
quietly cli import --json - <"$work/newest.zip"
until_true 60 "types are pending" waiting
cat "$work/kept.txt" >&2

say "containers and image gone, a newer build on the same volumes"
stopping=$(now)
quietly "${compose[@]}" stop
stopped=$(($(now) - stopping))
say "stopped in $stopped ms"
((stopped < 10000)) || die "it took longer than 10 s to stop"
for name in "${processes[@]}"; do
    code=$(docker inspect -f '{{.State.ExitCode}}' "$("${compose[@]}" ps -aq "$name" 2>/dev/null || "${compose[@]}" ps -q "$name")")
    [[ $code == 0 ]] || die "$name ended with $code"
done
quietly "${compose[@]}" --profile tools down
quietly docker rmi "$HEALTHBUS_IMAGE"
build 2
quietly "${compose[@]}" up -d --no-build
quietly cli ready --within 30
until_true 60 "heads, anchors, pending types and tasks as they were" same_kept
quietly cli tasks launch healthkit-sync
quietly cli device set app=active
until_true 180 "what was pending is computed and delivered" settled
until_true 60 "every day is final" all_final
until_true 60 "the backend has all samples, once" delivered

say "only down -v forgets"
quietly "${compose[@]}" --profile tools down -v
quietly "${compose[@]}" up -d --no-build
quietly cli ready --within 30
[[ $(cli days --json --from 1990-01-01 2>/dev/null | tr -d ' \n') == "[]" ]] || die "days are left after down -v"

database() { docker exec "$(container postgres-server)" sh -c 'psql --csv "$(cat /var/lib/healthbus-database/url)" -c "$1"' sh "$1"; }
# Every figure of every day, as reported by the stack and by the view in the database.
same_in_database() {
    cli days --all --csv >"$work/days.csv"
    database 'SELECT * FROM healthbus_views.days ORDER BY user_id, date' >"$work/database.csv"
    python3 - "$work/days.csv" "$work/database.csv" <<'PY'
import csv, json, sys
def value(text):
    if text in ("", "[]", "{}"):
        return None
    if text in ("t", "f"):
        return text == "t"
    try:
        return json.loads(text)
    except ValueError:
        return text
ours, theirs = ([{name: value(text) for name, text in row.items()} for row in csv.DictReader(open(path))] for path in sys.argv[1:3])
wrong = [(mine["date"], name, value, other.get(name)) for mine, other in zip(ours, theirs) for name, value in mine.items() if other.get(name) != value]
print(len(ours), "days,", len(theirs), "in the database; differs (date, figure, stack, database):", wrong[:5])
sys.exit(ours != theirs or len(ours) < 365 or not any(row["steps"] for row in ours))
PY
}

say "PostgreSQL by its profile, killed in the middle of an import"
quietly docker build ${DOCKER_BUILD_FLAGS:-} -t "$HEALTHBUS_POSTGRES_IMAGE" containers/postgres
quietly "${compose[@]}" --profile tools down -v
compose+=(--profile postgres)
export HEALTHBUS_CONFIG=/usr/lib/healthbus/configs/compose-postgres.json
quietly "${compose[@]}" up -d --no-build
# The server creates its cluster first, and `postgres` exits repeatedly until there is a URL.
quietly cli ready --within 120
cli import --json - <"$work/export.zip" >"$work/import.json" 2>"$work/import.err" &
import=$!
some_rows() { (($(database 'SELECT count(*) FROM healthbus.samples' | tail -n 1) > 0)); }
until_true 60 "the first rows are there" some_rows
id=$(container postgres-server)
quietly killed_by_the_system "$id"
until_true 60 "the server is started again" restarted "$id" 1
wait "$import" || { cat "$work/import.err" >&2; die "the import"; }
until_true 180 "all is delivered" settled
until_true 60 "the backend has all samples, once" delivered
until_true 60 "the same days in the database" same_in_database
samples=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["samples"]["alive"])' "$work/stats.json")
[[ $(database 'SELECT count(*) FROM healthbus_views.samples' | tail -n 1) == "$samples" ]] || die "the database hasn't the backend's $samples samples"
say "backend and database have the same $samples samples and the same days"
say "done"
