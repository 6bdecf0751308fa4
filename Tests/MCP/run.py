#!/usr/bin/env python3
"""Calls a stack's `healthbus mcp` with the official client, stopped and running, and compares its answers with the
output of the stack's commands: run.py <folder of the programs>."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from mcp import Client, MCPError, StdioServerParameters

# The figures that get_days returns, and where they are in `healthbus days --json`.
FIGURES = {
    "steps": ("steps",), "distance_meters": ("distanceMeters",), "heart_rate_average": ("heartRate", "average"),
    "sleep_asleep_minutes": ("sleep", "asleepMinutes"), "active_energy_kilocalories": ("activeEnergyKilocalories",),
}
# The arguments that each tool needs.
CALLS = {
    "list_metrics": {}, "get_days": {}, "get_hours": {"figures": ["steps"]}, "get_nights": {}, "get_workouts": {},
    "explain_figure": {"metric": "steps", "date": "DAY"}, "compare_spans": {"first": "DAY", "second": "DAY"},
    "search_samples": {"types": ["StepCount"], "limit": 5}, "get_status": {},
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def check(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")
    print(f"  {what}")


def figure(day, path):
    for name in path:
        day = (day or {}).get(name)
    return day


async def ask(client, days, hours, stack):
    """Calls all tools once, and some with mistakes. The client checks each answer against its tool's schema."""
    listed = (await client.list_tools()).tools
    check({tool.name for tool in listed} == set(CALLS), f"{len(listed)} tools")
    check(all(tool.annotations.read_only_hint for tool in listed), "all of them only read")
    newest = days[-1]["date"]
    for name, arguments in CALLS.items():
        words = {key: newest if value == "DAY" else value for key, value in arguments.items()}
        result = await client.call_tool(name, words)
        if result.is_error:
            sys.exit(f"wrong: {name}: {result.content}")
        answer = result.structured_content
        check(answer["stack"] == stack and answer["zone"] == "Europe/Berlin" and answer["today"], f"{name} says where and when")
        check(json.loads(result.content[-1].text) == answer, f"{name} says the same as text")

    answer = (await client.call_tool("get_days", {})).structured_content
    wanted = days[-7:]
    check([day["date"] for day in answer["days"]] == [day["date"] for day in wanted], "the last seven days with data")
    for shown, day in zip(answer["days"], wanted):
        check(shown["final"] == day["final"] and shown["zone"] == day["zone"], f"{day['date']} is {shown['state']}")
        for name, path in FIGURES.items():
            if shown["figures"].get(name) != figure(day, path):
                sys.exit(f"wrong: {name} of {day['date']}: {shown['figures'].get(name)}, but it is {figure(day, path)}")
    check(answer["units"]["steps"] == "count" and answer["units"]["distance_meters"] == "m", "units")
    named = (await client.call_tool("get_hours", {"dates": newest, "figures": ["steps"]})).structured_content
    rows = [hour["figures"]["steps"] for hour in named["days"][0]["hours"]]
    check(rows == [row["steps"] for row in hours][:len(rows)] and rows, f"{len(rows)} hours")

    small = (await client.call_tool("get_days", {"dates": "50y", "limit": 2})).structured_content
    check(len(small["days"]) == 2 and small["leftOut"]["days"] == len(days) - 2, "says what was left out")
    for name, arguments in [
        ("get_days", {"dates": "soon"}), ("get_days", {"figures": ["stps"]}), ("get_days", {"nonsense": 1}),
        ("explain_figure", {"metric": "steps"}), ("search_samples", {"types": []}), ("get_days", {"limit": "7"}),
    ]:
        result = await client.call_tool(name, arguments)
        check(result.is_error and result.content[0].text and result.structured_content is None, f"{name} {arguments}: {result.content[0].text!r}")
    try:
        await client.call_tool("delete_everything", {})
        sys.exit("wrong: there is a tool delete_everything")
    except MCPError as error:
        check(error.code == -32602, "no other tools")


async def talk(server, days, hours, stack):
    for mode in ["legacy", "auto"]:
        async with Client(server, mode=mode) as client:
            print(f"{stack} stack, protocol {client.protocol_version}:")
            check((client.protocol_version >= "2026") == (mode == "auto"), f"mode {mode}")
            check(client.server_info.name == "healthbus" and client.instructions, "who answers")
            await ask(client, days, hours, stack)


def main(programs):
    healthbus = os.path.join(programs, "healthbus")
    # A short path, because the bus's sockets are in this folder.
    folder = tempfile.mkdtemp(prefix="hbm-", dir="/tmp")
    up = None
    try:
        state = os.path.join(folder, "s")
        environment = dict(
            os.environ, HEALTHBUS_BACKEND_PORT=free_port(), HEALTHBUS_INGEST_PORT=free_port(), HEALTHBUS_DASHBOARD_PORT="0", HEALTHBUS_CONFIG="",
            HEALTHBUS_STATE=state)

        def run(*words):
            ended = subprocess.run([healthbus, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if ended.returncode != 0:
                sys.exit(f"healthbus {' '.join(words)}: {ended.stderr[-3000:]}")
            return ended.stdout

        export = os.path.join(folder, "export.zip")
        run("generate", "-o", export, "--days", "30", "--seed", "7")
        run("up", "--zone", "Europe/Berlin", "--import", export, "--until-idle")
        days = json.loads(run("days", "--json", "--from", "1990-01-01"))
        hours = json.loads(run("days", "--hourly", "--columns", "steps", "--json", "--from", days[-1]["date"]))
        setup = json.loads(run("mcp", "--setup"))["mcpServers"]["healthbus"]
        # Started as a host would start it: with the command from the setup, and almost no environment.
        server = StdioServerParameters(command=setup["command"], args=setup["args"])
        asyncio.run(talk(server, days, hours, "stopped"))

        up = subprocess.Popen([healthbus, "up"], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in up.stderr:
            if "processes are ready" in line:
                break
        asyncio.run(talk(server, days, hours, "running"))
        print("The official client understands healthbus mcp.")
    finally:
        if up:
            up.send_signal(signal.SIGINT)
            up.communicate()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
