"""Makes a table of what healthbus reported to people while the tests ran: each command, message and hint once, without
the parts that differ between runs.

Usage: table.py FILE   (the JSON lines that tests wrote because HEALTHBUS_MESSAGES named FILE)
"""

import json
import re
import sys

VARIABLE = [
    (r"/tmp/hbe-\d+-\d+", "…"),  # a test's folder
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "ID"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\b(process|pid|port) \d+", r"\1 N"),
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),
]


def plain(text):
    for pattern, put in VARIABLE:
        text = re.sub(pattern, put, text)
    return text.replace("|", "\\|").replace("\n", "<br>")


def rows(lines):
    found = {}
    for line in lines:
        reported = json.loads(line)
        command = reported["command"].split(" --")[0] or "healthbus"
        key = (plain(reported["message"]), plain(reported["hint"] or ""))
        found.setdefault(key, command)
    return sorted((plain(command), message, hint) for (message, hint), command in found.items())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table = rows(file)
    if not table:
        sys.exit(f"{sys.argv[1]} holds no message")
    print("| command | message | hint |\n| --- | --- | --- |")
    for row in table:
        print("| " + " | ".join(row) + " |")
    without = sum(1 for row in table if not row[2])
    print(f"{len(table)} messages, {without} without a hint", file=sys.stderr)


main()
