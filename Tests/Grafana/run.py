#!/usr/bin/env python3
"""Sends every query of Grafana's boards to real servers: run.py <folder of the programs>.

A made-up person's stack delivers to a PostgreSQL server and is watched by Prometheus. Each query in grafana/ is
expanded as Grafana does it, and must return rows; some figures are compared with those of the stack itself.
"""

import contextlib
import datetime
import json
import math
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zoneinfo

import boards
import servers
from servers import Wrong

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
DAYS = 75
# Queries whose result may be empty, because nothing has gone wrong yet.
MAY_BE_EMPTY = {("operator.json", "Alerts (A)")}
# Columns that are empty for a made-up person, whose watch recognizes every sleep stage.
MAY_BE_NULL = {("nights.json", "Unknown stage")}
NUMBERS = {"double precision", "bigint", "integer", "numeric"}


def check(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")
    print(f"  {what}")


def sql_problem(target, database, expander):
    """What is wrong with the result of a PostgreSQL query; None if nothing is."""
    query = expander.sql(target.sql)
    try:
        types = database.columns(query)
        rows = database.ask(query)
    except Wrong as error:
        return f"PostgreSQL refuses it: {error}"
    if not rows:
        return "no rows"
    for name in types:
        if all(row[name] is None for row in rows) and (target.board, name) not in MAY_BE_NULL:
            return f"{name} is NULL everywhere"
    for rule in target.panel.get("fieldConfig", {}).get("overrides", []):
        if rule["matcher"]["options"] not in types:
            return f"there is no column {rule['matcher']['options']}, but an override"
    if target.panel["type"] in ("timeseries", "annotation"):
        # A time without a zone is shown as it is, whereas one with a zone could move to another day.
        if types.get("time") != "timestamp without time zone":
            return f"its time is a {types.get('time')}"
        if [row["time"] for row in rows] != sorted(row["time"] for row in rows):
            return "it isn't in order of time"
    if target.panel["type"] == "timeseries":
        if target.format != "time_series":
            return "its format isn't time_series"
        for name, type in types.items():
            if name not in ("time", "metric") and type not in NUMBERS:
                return f"{name} is a {type}"
    return None


def promql_problem(target, prometheus, expander, begun):
    expression = expander.promql(target.expression)
    for name in set(boards.METRIC.findall(expression)) - boards.documented_metrics():
        return f"docs/monitoring.md doesn't know {name}"
    try:
        if target.is_instant:
            series = [[each["value"]] for each in prometheus.now(expression)]
        else:
            found = prometheus.api("query_range", query=expression, start=begun, end=time.time(), step=1)["result"]
            series = [each["values"] for each in found]
    except Wrong as error:
        return f"Prometheus refuses it: {error}"
    if (target.board, target.place) in MAY_BE_EMPTY:
        return None
    if not series:
        return "no series"
    if not any(math.isfinite(float(value)) for values in series for _, value in values):
        return "no value"
    return None


class Trial:
    def __init__(self, database, prometheus, begun):
        self.database, self.prometheus, self.begun = database, prometheus, begun
        now = datetime.datetime.now(datetime.timezone.utc)
        self.begin = (now - datetime.timedelta(days=DAYS - 5)).replace(hour=0, minute=0, second=0, microsecond=0)
        self.end = (now + datetime.timedelta(hours=26)).replace(microsecond=0)

    def variables(self, board):
        """Values of a board's variables, from their own queries, in order; with All where it is offered."""
        values = {}
        for variable in board.variables:
            expander = boards.Expander(self.begin, self.end, values)
            if variable["datasource"]["uid"] == "healthbus-postgres":
                rows = self.database.ask(expander.sql(variable["query"]))
                found = [next(iter(row.values())) for row in rows]
            else:
                found = self.label_values(expander.promql(variable["query"]["query"]))
            if not found:
                sys.exit(f"wrong: {board.name}: the variable {variable['name']} has no values")
            all_of_them = variable.get("includeAll", False)
            values[variable["name"]] = (found if all_of_them else found[:1], variable.get("allValue") if all_of_them else None)
        return values

    def label_values(self, query):
        series, label = query.removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
        return sorted({each[label] for each in self.prometheus.api("series", **{"match[]": series})})

    def problem(self, target, values):
        expander = boards.Expander(self.begin, self.end, values)
        if target.sql:
            return sql_problem(target, self.database, expander)
        return promql_problem(target, self.prometheus, expander, self.begun)

    def everything(self):
        for board in boards.all_boards():
            values = self.variables(board)
            count = 0
            for target in board.targets():
                problem = self.problem(target, values)
                if problem:
                    sys.exit(f"wrong: {target}: {problem}")
                count += 1
            # A single activity instead of all of them, as a person might choose.
            for name, (found, custom_all) in values.items():
                if custom_all and board.name == "workouts.json":
                    one = {**values, name: (found[:1], None)}
                    for target in board.targets():
                        problem = self.problem(target, one)
                        if problem and not problem.endswith("NULL everywhere") and problem != "no rows":
                            sys.exit(f"wrong: {target} with {name} {found[0]}: {problem}")
            print(f"  {board.name}: {count} queries are answered")

    def rows(self, board_name, place, begin=None, end=None):
        board = next(board for board in boards.all_boards() if board.name == board_name)
        target = next(target for target in board.targets() if target.place == place)
        return self.database.ask(boards.Expander(begin or self.begin, end or self.end, self.variables(board)).sql(target.sql))

    def is_shown(self, date):
        """Whether a day's noon lies in the range."""
        noon = datetime.datetime.combine(datetime.date.fromisoformat(date), datetime.time(12), datetime.timezone.utc)
        return self.begin <= noon <= self.end

    def can_fail(self):
        """Breaks queries, and checks that the test finds each broken one."""
        for board in boards.all_boards():
            values = self.variables(board)
            for target in board.targets():
                if "date::timestamp" in (target.sql or "") and target.panel["type"] == "timeseries":
                    target.sql = target.sql.replace("date::timestamp", "date::timestamptz")
                    check(self.problem(target, values), f"found: {target} with a zone in its time")
                    target.sql = target.sql.replace("date::timestamptz", "day::timestamp")
                    check(self.problem(target, values), f"found: {target} with a column that isn't there")
                    break
                if "healthbus_instance_ready" in (target.expression or ""):
                    target.expression = target.expression.replace("healthbus_instance_ready", "healthbus_instance_redy")
                    check(self.problem(target, values), f"found: {target} with a metric that isn't there")
                    break


def same(what, found, wanted):
    """Checks that two dictionaries of numbers are equal."""
    if set(found) != set(wanted):
        sys.exit(f"wrong: {what}: {sorted(set(found) ^ set(wanted))[:5]} are only in one")
    for key, value in wanted.items():
        if abs(found[key] - value) > 1e-6 * max(1, abs(value)):
            sys.exit(f"wrong: {what}: {key} is {found[key]}, but it is {value}")
    check(len(wanted) > 0, f"{what}: the {len(wanted)} figures of the stack")


def compare(trial, days):
    """Checks that panels show the stack's own figures."""
    days = [day for day in days if trial.is_shown(day["date"])]

    def shown(board, title, column):
        return {row["time"][:10]: float(row[column]) for row in trial.rows(board, f"{title} (A)") if row[column] is not None}

    steps = {day["date"]: day["steps"] for day in days if day["steps"] is not None}
    same("steps", shown("days.json", "Steps", "Steps"), steps)
    same("distance", shown("days.json", "Walking and running distance", "Distance"), {day["date"]: day["distanceMeters"] for day in days if day["distanceMeters"] is not None})
    same("weight", shown("body.json", "Weight", "Weight"), {day["date"]: day["bodyMassKilograms"] for day in days if day["bodyMassKilograms"] is not None})
    sleep = {day["date"]: day["sleep"] for day in days if day["sleep"] and day["sleep"]["asleepMinutes"] is not None}
    same("time asleep", shown("nights.json", "Asleep", "Asleep"), {date: night["asleepMinutes"] for date, night in sleep.items()})
    # In the person's local time, counted from the midnight at which the date begins.
    for column, member in (("To bed", "start"), ("Up", "end")):
        wanted = {}
        for date, night in sleep.items():
            wall = datetime.datetime.fromisoformat(night[member].replace("Z", "+00:00")).astimezone(BERLIN).replace(tzinfo=None)
            wanted[date] = (wall - datetime.datetime.fromisoformat(date)).total_seconds() / 3600
        same(column, shown("nights.json", "Bed time and wake time", column), wanted)
    workouts = trial.rows("workouts.json", "Workouts (A)")
    wanted = sorted(
        datetime.datetime.fromisoformat(each["start"].replace("Z", "+00:00")).astimezone(BERLIN).strftime("%Y-%m-%d %H:%M")
        for day in days for each in day["workouts"])
    check(sorted(row["Begins"] for row in workouts) == wanted, f"the {len(wanted)} workouts of the stack, at their local times")

    # The average leaves out days that aren't final, but includes days before the range.
    means = shown("days.json", "Steps", "7-day average")
    final = {day["date"]: day["steps"] for day in days if day["final"] and day["steps"] is not None}
    for day in days[6:]:
        week = [(datetime.date.fromisoformat(day["date"]) - datetime.timedelta(days=back)).isoformat() for back in range(7)]
        known = [final[date] for date in week if date in final]
        if abs(means[day["date"]] - sum(known) / len(known)) > 1e-6:
            sys.exit(f"wrong: the average of {day['date']}")
    check(days[0]["date"] in means, "averages of seven days")
    unfinished = [day["date"] for day in days if not day["final"]]
    marked = [row["text"][:10] for row in trial.rows("days.json", "Not final yet")]
    check(unfinished and marked == unfinished, f"{len(unfinished)} of the days isn't final, and marked")

    # Whatever the time, a range of so many days shows that many, and all of them lie in it.
    for hours in (0.5, 6, 11.9, 12.1, 23.5):
        end = trial.begin + datetime.timedelta(days=40, hours=hours)
        begin = end - datetime.timedelta(days=7)
        counted = int(trial.rows("days.json", "Days (A)", begin, end)[0]["With data"])
        drawn = [datetime.datetime.fromisoformat(row["time"] + "+00:00") for row in trial.rows("days.json", "Steps (A)", begin, end)]
        if counted != 7 or len(drawn) != 7 or not begin <= drawn[0] <= drawn[-1] <= end:
            sys.exit(f"wrong: in 7 days up to {end}, {counted} days are counted, and {len(drawn)} drawn, from {drawn[0]} on")
    check(True, "seven days in a range of seven")

    by_hour = sum(float(row["Steps"]) for row in trial.rows("days.json", "Steps by hour (A)"))
    mean = sum(final.values()) / len(final)
    check(abs(by_hour - mean) < 1e-6 * mean, "steps by hour are those of the final days")



def check_files():
    for board in boards.all_boards():
        for problem in board.problems():
            sys.exit(f"wrong: {board.name}: {problem}")
    uids = [board.content["uid"] for board in boards.all_boards()]
    check(len(set(uids)) == len(uids) == 5, "five boards, each as Grafana wants it")
    check(not boards.secrets(), "addresses and passwords come from the environment")
    prometheus = boards.GRAFANA / "prometheus"
    for words in (["check", "config", prometheus / "prometheus.yml"], ["check", "rules", prometheus / "healthbus.rules.yml"], ["test", "rules", boards.HERE / "rules.test.yml"]):
        ended = subprocess.run(["promtool", *words], capture_output=True, text=True)
        check(ended.returncode == 0, f"promtool {words[0]} {words[1]}{'' if ended.returncode == 0 else ': ' + ended.stdout + ended.stderr}")
    rules = (prometheus / "healthbus.rules.yml").read_text()
    check(set(boards.METRIC.findall(rules)) <= boards.documented_metrics(), "rules use the metrics of docs/monitoring.md")


def main(programs):
    check_files()
    begun = time.time()
    # A short path, because the bus's sockets are in this folder.
    folder = tempfile.mkdtemp(prefix="hbg-", dir="/tmp")
    # Makes SIGTERM stop everything too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("wrong: it was asked to end"))
    with contextlib.ExitStack() as at_the_end:
        at_the_end.callback(shutil.rmtree, folder, ignore_errors=True)
        database = servers.Postgres(folder)
        at_the_end.callback(database.stop)
        database.start()
        stack = servers.Stack(programs, folder, database.url())
        at_the_end.callback(stack.stop)
        export = f"{folder}/export.zip"
        stack.run("generate", "-o", export, "--days", str(DAYS), "--seed", "7", "--end", "today")
        servers.until("the stack is ready", lambda: "processes are ready" in stack.said())
        stack.run("import", export)
        stack.run("sync")
        # This is started only now, because the stack looks for its newest samples at the first scrape, and then every
        # 15 s.
        prometheus = servers.Prometheus(folder, stack.metrics)
        at_the_end.callback(prometheus.stop)
        servers.until("Prometheus reads it", prometheus.is_up)
        # An increase can only be computed if an earlier value has already been scraped.
        servers.until("Prometheus has seen the delivery", lambda: prometheus.now('healthbus_delivery_delay_seconds_count{metric="body"}'))
        stack.run("events", "add", "BodyMass", "71.4")
        stack.run("sync")
        servers.until(
            "Prometheus has seen a new sample",
            lambda: prometheus.now('increase(healthbus_delivery_delay_seconds_count{metric="body"}[1h]) > 0'))
        scraped = [line for line in stack.scrape().splitlines() if not line.startswith("#")]
        for name in {boards.METRIC.match(line).group() for line in scraped} - boards.documented_metrics():
            sys.exit(f"wrong: docs/monitoring.md doesn't know {name}")
        trial = Trial(database, prometheus, begun)
        trial.everything()
        compare(trial, json.loads(stack.run("days", "--json", "--from", "1990-01-01")))
        trial.can_fail()
        print(f"Every question of the boards has an answer ({time.time() - begun:.0f} s).")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
