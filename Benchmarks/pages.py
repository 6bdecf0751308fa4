#!/usr/bin/env python3
"""Measures the dashboard's page in Debian's Chromium: the first view of ten years, and how ten open tabs affect the
stack.

    Benchmarks/pages.py <folder of the programs> [seconds of a round]

`make bench-pages` calls it with Playwright installed. Linux only: it reads /proc.
"""

import os
import subprocess
import sys
import tempfile
import time

from door import Door
from exports import Exports
from feeding import fed
from measure import Failed, family, median, memory_peak, name, processor_seconds, proportional_memory
from playwright.sync_api import sync_playwright
from stack import Stack

CHROMIUM = "/usr/bin/chromium"
YEARS = 10
LOADS = 7
RATE = 2000  # samples a second
ROUNDS = 3  # with and without tabs, alternating
TABS = ["days", "days?figure=heartRate.resting", "nights", "workouts", "body", "pipeline", "tap", "waits", "history", "import"]
FIRST_VIEW, MEMORY, DROP = 300, 60, 5  # ms, MB, %

#: Records when the first view is drawn.
WATCH = """
const look = new MutationObserver(() => {
    const main = document.getElementById('main');
    if (main && !main.hasAttribute('aria-busy') && main.childElementCount > 0) { globalThis.drawnAt = performance.now(); look.disconnect(); }
});
look.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'] });
"""


class Dashboard:
    """The dashboard's process, and browsers that are signed in to it."""

    def __init__(self, stack):
        self.stack = stack
        self.pid = next(pid for pid in family(stack.process.pid) if name(pid) == "healthbus-dashboard")
        self.url = stack.ask("status")["dashboard"]["address"]

    def context(self, browser):
        context = browser.new_context()
        context.request.get(subprocess.run(
            [self.stack.healthbus, "open", "--state", self.stack.state], env={**self.stack.environment, "DISPLAY": "", "WAYLAND_DISPLAY": ""},
            capture_output=True, text=True, check=True).stdout.strip())
        return context

    @property
    def processor(self):
        return processor_seconds(self.pid)


def first_view(browser, dashboard):
    """Milliseconds from the page's load until ten years are drawn, in browsers with empty caches."""
    raw = []
    for _ in range(LOADS):
        context = dashboard.context(browser)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(f"{dashboard.url}/#/days", wait_until="load")
        end = time.monotonic() + 30
        while not page.evaluate("() => globalThis.drawnAt"):
            if time.monotonic() > end:
                raise Failed("the first view isn't drawn after 30 s")
            time.sleep(0.01)
        raw.append(page.evaluate("() => globalThis.drawnAt - performance.getEntriesByType('navigation')[0].loadEventEnd"))
        context.close()
    print(f"first view of {YEARS} years after the page has loaded: median {median(raw):.0f} ms, worst {max(raw):.0f} "
          f"(budget {FIRST_VIEW}; {LOADS} loads)", flush=True)
    return median(raw) <= FIRST_VIEW


def with_tabs(browser, stack, dashboard, seconds):
    """Rounds without and with ten tabs."""
    door = Door(stack)
    raw, first = {"without": [], "with": []}, 0
    fed(stack, door, first, RATE, 5)
    first += RATE * 5
    share = []
    for number in range(ROUNDS):
        for way in raw:
            context = dashboard.context(browser) if way == "with" else None
            for view in TABS if context else ():
                page = context.new_page()
                page.goto(f"{dashboard.url}/#/{view}", wait_until="load")
            used, begin = dashboard.processor, time.monotonic()
            raw[way].append(fed(stack, door, first, RATE, seconds))
            if context:
                share.append((dashboard.processor - used) / (time.monotonic() - begin) * 100)
                held = proportional_memory(dashboard.pid) / 1e6
                context.close()
            first += int(RATE * seconds)
            stack.until_backend_rests(quiet=2)
    rates = {way: median([rate for rate, _ in found]) for way, found in raw.items()}
    times = {way: median([spent for _, spent in found]) for way, found in raw.items()}
    drop = (1 - rates["with"] / rates["without"]) * 100
    peak = memory_peak(dashboard.pid) / 1e6
    print(f"{RATE} samples a second for {seconds:g} s: {rates['without']:.0f} a second at the backend, {rates['with']:.0f} with {len(TABS)} tabs: "
          f"{drop:.1f} % less (budget {DROP}; medians of {ROUNDS} rounds)")
    print(f"processor time of the stack: {times['without']:.1f} s, {times['with']:.1f} s with tabs; of it the dashboard {median(share):.1f} % of a core")
    print(f"dashboard's memory with tabs: {held:.0f} MB proportional, {peak:.0f} MB at most (budget {MEMORY})", flush=True)
    return drop <= DROP and peak <= MEMORY


def main(programs, seconds):
    healthbus = os.path.join(os.path.abspath(programs), "healthbus")
    with tempfile.TemporaryDirectory(prefix="hbp-", dir="/tmp") as folder:
        export = Exports(healthbus, folder, lambda text: print(text, flush=True)).made("ten-years", days=YEARS * 365 + 3)
        with Stack(healthbus, os.path.join(folder, "s")) as stack:
            stack.ask("import", export)
            stack.until_backend_rests(quiet=5)
            dashboard = Dashboard(stack)
            with sync_playwright() as playwright:
                sandbox = [] if os.geteuid() else ["--no-sandbox"]
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
                kept = [first_view(browser, dashboard), with_tabs(browser, stack, dashboard, seconds)]
                browser.close()
    if not all(kept):
        sys.exit("a budget isn't met")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60)
    except Failed as problem:
        sys.exit(f"pages: {problem}")
