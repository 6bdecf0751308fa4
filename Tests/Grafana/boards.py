"""Grafana's boards: the rules for their files, and their queries as Grafana would send them."""

import json
import pathlib
import re

from servers import CHECKOUT

HERE = pathlib.Path(__file__).resolve().parent
GRAFANA = CHECKOUT / "grafana"
# The Grafana units that the boards use.
UNITS = {"locale", "lengthm", "m", "s", "ms", "dthms", "masskg", "percentunit", "velocitykmh", "velocityms", "decbytes"}
METRIC = re.compile(r"\bhealthbus_[a-z_]+")


def each_file():
    return sorted((GRAFANA / "provisioning/dashboards/healthbus").glob("*.json"))


def provisioned():
    """Types of the data sources by uid. The file is simple enough to be read without a YAML library."""
    text = (GRAFANA / "provisioning/datasources/healthbus.yaml").read_text()
    return dict(re.findall(r"^    uid: (\S+)\n    type: (\S+)$", text, re.MULTILINE))


def secrets():
    """Values in the provisioning that should be variables, but aren't."""
    text = (GRAFANA / "provisioning/datasources/healthbus.yaml").read_text()
    return re.findall(r"^ +(?:url|user|password|database|sslmode|sslRootCertFile): (?!\$HEALTHBUS_GRAFANA_[A-Z]+$).*$", text, re.MULTILINE)


class Target:
    """A query of a panel, an annotation or a variable."""

    def __init__(self, board, place, source, query, panel=None):
        self.board, self.place, self.source, self.panel = board, place, source, panel or {}
        self.sql, self.expression = query.get("rawSql"), query.get("expr")
        self.is_instant, self.format, self.ref = query.get("instant", False), query.get("format"), query.get("refId")

    def __str__(self):
        return f"{self.board}: {self.place}"


class Board:
    def __init__(self, path):
        self.text = path.read_text()
        self.content = json.loads(self.text)
        self.name = path.name
        self.panels = self.content["panels"]
        self.variables = self.content["templating"]["list"]

    def targets(self):
        for panel in self.panels:
            for query in panel["targets"]:
                yield Target(self.name, f"{panel['title']} ({query['refId']})", panel["datasource"], query, panel)
        for annotation in self.content["annotations"]["list"]:
            yield Target(self.name, annotation["name"], annotation["datasource"], annotation["target"], {"type": "annotation"})

    def problems(self):
        """What is wrong with the file itself."""
        content, sources = self.content, provisioned()
        if content["uid"] != f"healthbus-{self.name.removesuffix('.json')}":
            yield "its uid isn't its file's name"
        if "healthbus" not in content["tags"] or not content["description"]:
            yield "it has no tag or description"
        ids = [panel["id"] for panel in self.panels]
        if len(set(ids)) != len(ids):
            yield "two panels have the same id"
        titles = [panel["title"] for panel in self.panels if panel["type"] != "stat"]
        if len(set(titles)) != len(titles):
            yield "two panels have the same title"
        if not content.get("refresh"):
            yield "it shows what was there when it was opened"
        yield from self.link_problems()
        for target in self.targets():
            if re.search(r"\$__timeFilter\((\w+\.)?date\)", target.sql or ""):
                yield f"{target.place}: it compares dates with dates, so that a range of 7 days has 8"
        yield from self.overlaps()
        for panel in self.panels:
            for problem in self.panel_problems(panel):
                yield f"{panel.get('title')}: {problem}"
        for place in self.panels + self.variables + content["annotations"]["list"]:
            if sources.get(place["datasource"]["uid"]) != place["datasource"]["type"]:
                yield f"{place.get('title') or place.get('name')}: its data source isn't provisioned"
        known = {variable["name"] for variable in self.variables}
        for match in re.finditer(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))", self.text):
            name = match.group(1) or match.group(2)
            if name not in known and not name.startswith("__"):
                yield f"there is no variable {name}"

    def link_problems(self):
        """Boards of health share the chosen range. The operator's is in hours, in which there may be no whole day."""
        kinds = {tag for tag in self.content["tags"] if tag != "healthbus"}
        if len(kinds) != 1 or not kinds <= {"health", "stack"}:
            yield "it is neither of health nor of a stack"
        for link in self.content["links"]:
            if link["keepTime"] != (kinds == {"health"} and "health" in link["tags"]):
                yield f"its link to {link['tags']} has another keepTime"

    def overlaps(self):
        taken = {}
        for panel in self.panels:
            place = panel["gridPos"]
            if place["x"] + place["w"] > 24:
                yield f"{panel['title']}: it is wider than the page"
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    other = taken.setdefault((x, y), panel["title"])
                    if other != panel["title"]:
                        yield f"{panel['title']}: it lies over {other}"
                        return

    def panel_problems(self, panel):
        if not panel.get("title") or not panel.get("description", "").endswith((".", "!")):
            yield "it has no title, or no description in sentences"
        defaults, overrides = panel["fieldConfig"]["defaults"], panel["fieldConfig"]["overrides"]
        units = [defaults.get("unit")] + [each["value"] for rule in overrides for each in rule["properties"] if each["id"] == "unit"]
        for unit in units:
            if unit and unit not in UNITS and not re.match(r"suffix:\S", unit):
                yield f"Grafana has no unit {unit}, or it isn't among those known here"
        for query in panel["targets"]:
            sql, expression = query.get("rawSql", ""), query.get("expr", "")
            if re.search(r"\bdate(::timestamp)? AS time\b", sql):
                yield "it draws a day at midnight, so that half of the first bar is outside the range"
            if "histogram_quantile" in expression and not re.search(r"\bby \([^)]*\binstance\b", expression):
                yield "it mixes the delays of different destinations"
            for label in ("instance", "metric"):
                if re.search(rf"\bby \([^)]*\b{label}\b", expression) and query.get("format") != "table" and f"{{{{{label}}}}}" not in query["legendFormat"]:
                    yield f"its legend doesn't say which {label}"
        # By default, Grafana colours a number green, or red if it is 80 or more.
        if panel["type"] == "stat" and not (defaults.get("thresholds") or defaults.get("color", {}).get("mode") == "fixed"):
            yield "its number would be red from 80"
        custom = defaults.get("custom", {})
        if custom.get("spanNulls") is True:
            yield "it draws a line where data is missing"
        if re.search(r"coalesce\([^()]*, *0\)", json.dumps(panel["targets"]), re.IGNORECASE):
            yield "it shows missing data as 0"


def all_boards():
    return [Board(path) for path in each_file()]


def documented_metrics():
    """Names of metrics in docs/monitoring.md, including the series of histograms."""
    rows = re.findall(r"^\| `(healthbus_\w+)` \| (\w+) \|", (CHECKOUT / "docs/monitoring.md").read_text(), re.MULTILINE)
    names = set()
    for name, kind in rows:
        names |= {name + suffix for suffix in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


class Expander:
    """Replaces variables and macros as Grafana's page and its PostgreSQL plugin do, for a time range and variables'
    values. A macro ends at the first closing parenthesis, and its arguments are separated by commas."""

    def __init__(self, begin, end, variables, scrape_seconds=1):
        self.begin, self.end, self.variables, self.scrape = begin, end, variables, scrape_seconds

    def value(self, match):
        name, form = match.group(1) or match.group(3), match.group(2)
        if name.startswith("__"):
            return match.group()
        values, custom_all = self.variables[name]
        # The custom value that a variable has for All is inserted unchanged, whatever the format.
        if custom_all:
            return custom_all
        if form == "sqlstring":
            return ",".join("'" + value.replace("'", "''") + "'" for value in values)
        return values[0] if len(values) == 1 else "(" + "|".join(values) + ")"

    def variables_in(self, text):
        return re.sub(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)", self.value, text)

    def sql(self, text):
        return re.sub(r"\$(__\w+)\(([^)]*)\)", self.macro, self.variables_in(text))

    def macro(self, match):
        name, argument = match.group(1), match.group(2).split(",")[0].strip()
        begin, end = self.begin.strftime("'%Y-%m-%dT%H:%M:%SZ'"), self.end.strftime("'%Y-%m-%dT%H:%M:%SZ'")
        if name == "__timeFilter":
            return f"{argument} BETWEEN {begin} AND {end}"
        if name == "__timeFrom":
            return begin
        if name == "__timeTo":
            return end
        raise SystemExit(f"wrong: no board has used the macro {name} so far: add it to Tests/Grafana/boards.py")

    def promql(self, text):
        # Four scrapes, which is what Grafana's data source uses.
        text = text.replace("$__rate_interval", f"{4 * self.scrape}s")
        text = self.variables_in(text)
        if "$" in text:
            raise SystemExit(f"wrong: no board has used this so far: {text}")
        return text
