"""A separate stack in its own folder, with a made-up year, and a browser that shows its page."""

import contextlib
import copy
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import Error, sync_playwright

CHROMIUM = "/usr/bin/chromium"
ZONE = "Europe/Berlin"
#: How many seconds to wait for anything that must happen, even on a busy machine.
PATIENCE = float(os.environ.get("HEALTHBUS_TEST_PATIENCE", "60"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def eventually(what, look):
    """The result of `look`, as soon as it returns one."""
    end = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            sys.exit(f"after {PATIENCE:.0f} s: {what}")
        time.sleep(0.1)


class Stack:
    def __init__(self, programs, days, seed=1):
        self.healthbus = os.path.join(programs, "healthbus")
        # A short path, because the bus's sockets are in this folder.
        self.folder = tempfile.mkdtemp(prefix="hbw-", dir="/tmp")
        self.port = free_port()
        self.environment = dict(
            os.environ, HEALTHBUS_BACKEND_PORT=free_port(), HEALTHBUS_INGEST_PORT=free_port(), HEALTHBUS_DASHBOARD_PORT=self.port,
            HEALTHBUS_CONFIG="", HEALTHBUS_STATE=os.path.join(self.folder, "s"), DISPLAY="", WAYLAND_DISPLAY="")
        self.process = None
        self.generate("export.zip", "--days", str(days), "--seed", str(seed))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def path(self, name):
        return os.path.join(self.folder, name)

    def generate(self, name, *options):
        self.run("generate", "--unmarked", "-o", self.path(name), "--zone", ZONE, *options)

    def run(self, *words):
        ended = subprocess.run([self.healthbus, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"healthbus {' '.join(words)}: {ended.stderr[-3000:]}")
        return ended.stdout

    def start(self):
        """Waits until every day of the export is final and the page is served."""
        self.run("up", "--zone", ZONE, "--import", self.path("export.zip"), "--until-idle")
        self.launch()
        eventually("the page has no days", lambda: self.asked("days")["days"])

    def launch(self):
        """Starts it with what it has, and waits until the page is served."""
        self.reads = self.token("read")
        self.log = open(self.path("up.log"), "w")
        self.process = subprocess.Popen([self.healthbus, "up"], env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        eventually("the page isn't served", self.answers)

    def answers(self):
        with contextlib.suppress(OSError):
            return "days" in self.asked("days")

    def asked(self, path):
        request = urllib.request.Request(f"{self.url}/api/{path}", headers={"Authorization": f"Bearer {self.reads}"})
        return json.load(urllib.request.urlopen(request))

    def days(self):
        return json.loads(self.run("days", "--json", "--from", "1990-01-01"))

    @property
    def programs(self):
        return os.path.dirname(self.healthbus)

    def token(self, scope):
        return json.loads(self.run("token", "new", "--scope", scope, "--json"))["token"]

    def link(self):
        """Signs one browser in."""
        return self.run("open").strip()

    def pid(self, instance):
        """The id of one process of this stack."""
        return next(one["pid"] for one in json.loads(self.run("status", "--json"))["processes"] if one["name"] == instance)

    def logged(self):
        """Everything its processes have logged."""
        with open(self.path("up.log")) as file:
            return file.read()

    def close(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Browser:
    """Pages that must log nothing and contact no other host: any log line or request elsewhere is recorded."""

    def __init__(self, playwright, stack):
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        self.browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        self.stack = stack
        self.url = stack.url
        self.complaints = []
        self.loaded = {}

    def page(self, scheme="light", width=1280, height=900, language="en-US", **options):
        """A page in a person's browser that is signed in."""
        context = self.browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}, locale=language, timezone_id=ZONE, reduced_motion="reduce", **options)
        self.sign_in(context)
        return self.tab(context)

    def sign_in(self, context):
        answer = context.request.get(self.stack.link())
        if answer.status != 200:
            sys.exit(f"the link doesn't sign in: {answer.status}")

    def of(self, stack):
        """The same browser, for another stack's page."""
        other = copy.copy(self)
        other.url, other.stack = stack.url, stack
        return other

    def tab(self, context):
        """One more page in the same person's browser."""
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda message: self.complain(page, f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complain(page, f"error: {error}"))
        page.on("request", lambda request: None if request.url.startswith(self.url + "/") or request.url.startswith("blob:") else self.complain(page, f"asks {request.url}"))
        page.on("response", self.weigh)
        return page

    def weigh(self, response):
        path = response.url[len(self.url):]
        if path.endswith(".js") and response.status == 200:
            self.loaded[path] = int(response.headers.get("content-length", 0))

    def complain(self, page, text):
        self.complaints.append(f"{page.url}: {text}")

    def show(self, page, view):
        """Goes to a view, and waits until it is drawn."""
        address = f"{self.url}/#/{view}"
        if page.url.split("#")[0] == f"{self.url}/":
            page.evaluate("() => document.getElementById('main').setAttribute('aria-busy', 'true')")
            if page.evaluate("(hash) => location.hash === hash", f"#/{view}"):
                page.reload()
            else:
                page.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
        else:
            page.goto(address)
        self.drawn(page)

    @staticmethod
    def until(page, what, look, value=None):
        """Polls from here: the page's policy forbids evaluating text in it, even for Playwright's own waiting."""
        def ask():
            try:
                return page.evaluate(look, value)
            except Error as error:
                # The page is being reloaded.
                if "context was destroyed" not in str(error):
                    raise

        eventually(f"{page.url}: {what}", ask)

    def drawn(self, page):
        self.until(page, "the view isn't drawn", "() => { const main = document.getElementById('main'); return !main.hasAttribute('aria-busy') && main.childElementCount > 0; }")
        # Charts are drawn once their library is loaded.
        self.until(page, "a chart isn't drawn", "() => [...document.querySelectorAll('main .chart canvas')].every((one) => globalThis.Chart?.getChart(one))")

    def close(self):
        self.browser.close()


@contextlib.contextmanager
def browsing(stack):
    with sync_playwright() as playwright:
        browser = Browser(playwright, stack)
        try:
            yield browser
        finally:
            browser.close()


def views(stack):
    """Each view, with an existing day and workout."""
    days = stack.days()
    busy = next(day for day in reversed(days) if day["workouts"] and any(one["route"] for one in day["workouts"]))
    workout = next(one for one in busy["workouts"] if one["route"])
    return ["days", f"day/{busy['date']}", "nights", "workouts", f"workouts/{workout['id']}", "body", "import", "settings", "pipeline", "waits", "tap", "history"]


def number(text):
    """The digits of the text shown, as a number."""
    return float(re.sub(r"[^0-9.\-]", "", text))
