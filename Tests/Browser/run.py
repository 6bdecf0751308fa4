#!/usr/bin/env python3
"""Drives the dashboard's page in Debian's Chromium, on a made-up year: run.py <folder of the programs> [<name of a check> …]"""

import json
import os
import re
import signal
import sys
import time

from axe_playwright_python.sync_playwright import Axe

from stack import Stack, browsing, eventually, number, views

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# : The maximum size of the page's own script that the first view may load, in bytes.
SCRIPT = 66_000
LATE = 412
# : Within how many seconds a person looking at the page must be able to see that a process hangs.
STANDS_OUT = 2.0
#: A cell of the week shows a number.
SHOWS = "([cell, wanted]) => Math.abs(Number(document.querySelector(cell)?.dataset.value) - wanted) < 0.001"
#: Within how many seconds an open page must show what `healthbus days` prints.
SHOWN_WITHIN = 2.0
ROW = "(date) => document.querySelector(`tr[data-date='${date}']`) !== null"
# : More tabs than the six connections that a browser opens to one server.
TABS = 8
LIVE = "document.getElementById('state').textContent === 'Live'"
SIGNED_OUT = "document.querySelector('main [role=alert]')?.textContent.includes('healthbus open') === true"


def check(truth, what):
    if not truth:
        sys.exit(what)


def every_view(stack, browser):
    """Each view in each form: an empty console, no requests elsewhere, accessible, and nothing wider than the
    screen."""
    all_views = views(stack)
    for scheme in ("light", "dark"):
        for width in (1280, 375):
            plain = browser.page(scheme, width)
            bypassed = browser.page(scheme, width, bypass_csp=True)
            for view in all_views:
                browser.show(plain, view)
                check(plain.locator("main [role=alert]").count() == 0, f"{view}: {plain.locator('main').inner_text()}")
                wide = plain.evaluate("document.documentElement.scrollWidth")
                check(wide <= width, f"{view} is {wide} wide on a screen of {width}")
                browser.show(bypassed, view)
                found = Axe().run(bypassed, options={"runOnly": RULES}).response["violations"]
                reported = [(one["id"], [node["target"] for node in one["nodes"][:3]]) for one in found]
                check(not found, f"{view}, {scheme}, {width} wide: {reported}")
            plain.context.close()
            bypassed.context.close()
    check(not browser.complaints, "\n".join(browser.complaints))
    print(f"{len(all_views)} views in light and dark, on a desk and on a phone")


def script(stack, browser):
    """How much of the page's own script the first view loads."""
    browser.loaded.clear()
    page = browser.page()
    browser.show(page, "days")
    own = {path: size for path, size in browser.loaded.items() if not path.startswith("/lib/")}
    check(all(own.values()) and "/app.js" in own, f"sizes aren't known: {own}")
    check(sum(own.values()) <= SCRIPT, f"the first view loads {sum(own.values())} bytes of script: {own}")
    print(f"the first view loads {sum(own.values())} bytes of the page's own script")
    page.context.close()


#: What is shown of a type without a figure of its own: the first of these that it has.
MEMBERS = ("sum", "average", "mostRecent", "minutes", "count")


def figure(day, path, member):
    if path.startswith("other."):
        return (day["other"].get(path.removeprefix("other.")) or {}).get(member)
    for name in path.split("."):
        day = (day or {}).get(name)
    return day


def same_numbers(stack, browser):
    """Every day and figure on the page equals that of `healthbus days --json`."""
    days = {day["date"]: day for day in stack.days()}
    years = sorted({date[:4] for date in days})
    page = browser.page()
    browser.show(page, "days")
    browser.until(page, "other types aren't offered", "document.querySelectorAll('select option[value^=\"other.\"]').length > 0")
    paths = page.eval_on_selector_all("main select optgroup option", "all => all.map((one) => one.value)")
    wanted = {path for path in ("steps", "heartRate.resting", "sleep.asleepMinutes", "bodyMassKilograms") if path not in paths}
    check(not wanted, f"figures aren't offered: {wanted}")
    compared = 0
    for path in paths:
        for year in years:
            browser.show(page, f"days?figure={path}&year={year}")
            page.wait_for_selector(f"table.year[data-figure='{path}']")
            shown = dict(page.eval_on_selector_all("table.year button", "all => all.map((one) => [one.dataset.date, [one.dataset.value ?? null, one.getAttribute('aria-label')]])"))
            for date, day in days.items():
                if date[:4] != year:
                    continue
                member = next((name for name in MEMBERS if isinstance((day["other"].get(path[6:]) or {}).get(name), (int, float))), None)
                value, label = figure(day, path, member), shown[date][1]
                reported = None if shown[date][0] is None else float(shown[date][0])
                check(reported == value, f"{date}, {path}: the page has {reported}, days has {value}")
                if path == "steps" and value is not None:
                    check(abs(number(label.split(": ")[1]) - value) <= 0.5, f"{date}: it reads “{label}”, days has {value}")
                compared += 1
    print(f"{compared} numbers of {len(paths)} figures on {len(days)} days are those of days --json")
    page.context.close()


def a_day(stack, browser):
    """A day's own page has the same figures, and shows which source counted."""
    day = stack.days()[-2]
    page = browser.page()
    browser.show(page, f"day/{day['date']}")
    for tile in page.locator(".tile[data-figure]").all():
        path = tile.get_attribute("data-figure")
        if not path.startswith("other."):
            check(float(tile.get_attribute("data-value")) == figure(day, path, None), f"{day['date']}, {path}: the tile has {tile.inner_text()}")
    explained = json.loads(stack.run("explain", "steps", day["date"], "--json"))
    check(page.locator("svg .counted").count() == len(explained["intervals"]), "the lanes don't have the intervals of explain")
    night = json.loads(stack.run("explain", "sleep", day["date"], "--json"))
    stages = [one for one in night["sessions"][0]["stretches"] if one["stage"] != "in bed"]
    check(page.locator("svg .stage").count() >= len(stages) > 0, "the night lacks stages")
    print(f"{day['date']} has its figures, {len(explained['intervals'])} intervals and {len(stages)} stages")
    page.context.close()


def by_keyboard(stack, browser):
    """Arrow keys move through the calendar, and Enter opens a day."""
    page = browser.page()
    browser.show(page, "days")
    page.locator("table.year button[tabindex='0']").focus()
    last = page.evaluate("document.activeElement.dataset.date")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    date = page.evaluate("document.activeElement.dataset.date")
    check(date < last, f"arrows lead from {last} to {date}")
    page.keyboard.press("Enter")
    browser.until(page, "the day isn't shown", "(date) => location.hash.startsWith(`#/day/${date}`)", date)
    page.context.close()
    print("the calendar goes by the keyboard")


def in_german(stack, browser):
    """Every word of the page exists in German, and numbers are in German form."""
    page = browser.page(language="de-DE")
    browser.show(page, "days")
    check(page.locator("h1").inner_text() == "Tage", page.locator("h1").inner_text())
    check("km" in page.locator(".week").inner_text(), "no kilometres for a German")
    lacking = page.evaluate("""async () => {
        const [en, de] = await Promise.all(['en', 'de'].map((name) => import(`/words/${name}.js`)));
        return Object.keys(en.words).filter((key) => !(key in de.words));
    }""")
    check(not lacking, f"German lacks {lacking}")
    page.context.close()
    page = browser.page(language="en-US")
    browser.show(page, "days")
    check("mi" in page.locator(".week").inner_text(), "no miles for an American")
    clock = page.evaluate("async () => { const { clockSeconds } = await import('/format.js'); return [5, 59.6, 3599.7, 3661.2].map((one) => clockSeconds(one)); }")
    check(clock == ["0:05", "1:00", "1:00:00", "1:01:01"], f"seconds read {clock}")
    page.context.close()
    print("German and American words and units")


def import_late(stack, date, start, end):
    """Imports late steps for a day."""
    record = (f'<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Late Band" unit="count" value="{LATE}" creationDate="{date} 06:00:00 +0100" '
              f'startDate="{date} {start}:00 +0100" endDate="{date} {end}:00 +0100"/>')
    with open(stack.path("late.xml"), "w") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_US"><ExportDate value="{date} 23:59:00 +0100"/>{record}</HealthData>\n')
    stack.run("import", stack.path("late.xml"))


def late_sample(stack, browser):
    """A late sample changes its day on the open page."""
    last = stack.days()[-1]
    page = browser.page()
    browser.show(page, "days")
    cell = f"tr[data-date='{last['date']}'] td[data-figure='steps']"
    before = float(page.get_attribute(cell, "data-value"))
    began = time.monotonic()
    import_late(stack, last["date"], "03:10", "03:20")
    browser.until(page, "the late sample isn't shown", SHOWS, [cell, before + LATE])
    print(f"a late sample was seen after {time.monotonic() - began:.1f} s")
    page.context.close()


def shown(browser, page, date, what):
    began = time.monotonic()
    browser.until(page, what, ROW, date)
    lasted = time.monotonic() - began
    check(lasted <= SHOWN_WITHIN, f"{what} until after {lasted:.1f} s")


def first_sight(stack, browser):
    """A page that was opened on an empty stack, or whose first answers were from before an import, shows what arrives."""
    fresh = Stack(stack.programs, days=20)
    try:
        fresh.launch()
        browser = browser.of(fresh)
        page = browser.page()
        browser.show(page, "days")
        check(page.locator("a[href='#/import']").count() == 2, "the page of an empty stack doesn't lead to importing")
        late, held = browser.page(), []
        # These answers are from before the import, and come after everything that is announced about it.
        for path in ("about", "days"):
            late.route(f"**/api/{path}", lambda route: held.append((route, route.fetch())) if len(held) < 2 else route.continue_())
        late.goto(f"{fresh.url}/#/days", wait_until="commit")
        while len(held) < 2:
            late.wait_for_timeout(20)
        fresh.run("import", fresh.path("export.zip"))
        fresh.run("sync")
        last = fresh.days()[-1]["date"]
        shown(browser, page, last, "what arrived isn't shown")
        for route, answer in held:
            route.fulfill(response=answer)
        shown(browser, late, last, "what arrived during the first draw isn't shown")
        for number in range(6):
            # Its end is given by the export's own; each brings an earlier time.
            fresh.generate("more.zip", "--days", "5", "--seed", str(number + 2), "--end", f"2025-05-0{number + 1}")
            fresh.run("import", fresh.path("more.zip"))
            eventually("the import has no days", lambda: fresh.days()[-1]["date"] > last)
            last = fresh.days()[-1]["date"]
            check(fresh.asked("about")["last"] >= last, f"the page's last day is before {last}")
            opened = browser.page()
            browser.show(opened, "days")
            shown(browser, opened, last, "a page opened after an import doesn't show it")
            opened.context.close()
        page.context.close()
        late.context.close()
        print("an empty page filled as data arrived, whatever it showed first")
    finally:
        fresh.close()


def own_types(stack, browser):
    """A person's own percentages are shown as entered, and the latest of a day as such."""
    last = stack.days()[-1]["date"]
    stack.run("types", "add", "battery", "--unit", "%", "--aggregation", "latest")
    for hour, value in (("08:00", 80), ("09:00", 60)):
        stack.run("events", "add", "battery", str(value), "--at", f"{last}T{hour}")
    stack.run("sync")
    page = browser.page()
    browser.show(page, f"day/{last}")
    browser.until(page, "the own type isn't shown", "document.querySelector('.tile[data-figure=\"other.battery\"]') !== null")
    tile = page.locator(".tile[data-figure='other.battery']")
    check("60.0" in tile.inner_text() and "%" in tile.inner_text(), f"60 % reads {tile.inner_text()}")
    print("the percentage of a person's own type is shown as it was entered")
    page.context.close()


def many_tabs(stack, browser):
    """Even if there are more tabs than connections that a browser opens to a server, all are live and show the same
    change."""
    tabs = [browser.page()]
    while len(tabs) < TABS:
        tabs.append(browser.tab(tabs[0].context))
    for tab in tabs:
        browser.show(tab, "days")
    for tab in tabs:
        browser.until(tab, "it isn't live", LIVE)
    last = stack.days()[-1]["date"]
    steps = f"tr[data-date='{last}'] td[data-figure='steps']"
    before = float(tabs[0].get_attribute(steps, "data-value"))
    import_late(stack, last, "04:40", "04:50")
    for tab in tabs:
        browser.until(tab, "the late sample isn't shown", SHOWS, [steps, before + LATE])
    viewers = json.loads(stack.run("status", "--json"))["dashboard"]["viewers"]
    check(viewers == 1, f"{TABS} tabs hold {viewers} streams")
    for tab in tabs[:-1]:
        tab.close()
    import_late(stack, last, "05:40", "05:50")
    browser.until(tabs[-1], "the last tab hears nothing", SHOWS, [steps, before + 2 * LATE])
    tabs[-1].context.close()
    eventually("the stream of closed tabs goes on", lambda: json.loads(stack.run("status", "--json"))["dashboard"]["viewers"] == 0)
    print(f"{TABS} tabs share one stream")


def frozen(stack, page):
    """Freezes a process, and lets it continue; returns the seconds until it stood out."""
    ready = ".node[data-name=energy][data-state=ready]"
    page.wait_for_selector(ready)
    pid = stack.pid("energy")
    began = time.monotonic()
    os.kill(pid, signal.SIGSTOP)
    try:
        page.wait_for_selector(".node.ill[data-name=energy]")
        lasted = time.monotonic() - began
        check("energy" in page.locator(".notice").inner_text(), "the notice doesn't name it")
    finally:
        os.kill(pid, signal.SIGCONT)
    page.wait_for_selector(ready)
    return lasted


def a_hanging_stage(stack, browser):
    """A frozen process, and one that ends, stand out in the graph until they are back."""
    page = browser.page()
    browser.show(page, "pipeline")
    browser.until(page, "it isn't live", LIVE)
    lasted = []
    # A busy machine may delay a single update, but not all of them.
    while not lasted or (min(lasted) > STANDS_OUT and len(lasted) < 3):
        lasted.append(frozen(stack, page))
    reported = ", ".join(f"{one:.1f}" for one in lasted)
    check(min(lasted) <= STANDS_OUT, f"a frozen process stood out after {reported} s, not within {STANDS_OUT:.0f} s")
    print(f"a frozen process stood out after {reported} s")
    node = page.locator(".node[data-name=sleep]")
    before = int(node.get_attribute("data-restarts"))
    os.kill(stack.pid("sleep"), signal.SIGKILL)
    page.wait_for_selector(f".node.wait[data-name=sleep][data-state=ready][data-restarts='{before + 1}']")
    check("restarted" in node.text_content(), f"it says “{node.text_content()}”")
    check("sleep ended" in " ".join(page.locator("main [role=status]").first.inner_text().split()), "the notice doesn't name it")
    print("a killed process came back, and stood out")
    page.context.close()


def goes_on(stack, browser):
    """A page that has lost its stack says so, and continues once its browser is signed in again."""
    page = browser.page()
    browser.show(page, "days")
    browser.until(page, "it isn't live", LIVE)
    os.kill(stack.pid("dashboard"), signal.SIGKILL)
    page.wait_for_selector("#state.lost")
    page.evaluate("location.hash = '#/history'")
    browser.until(page, "it doesn't say how to sign in", SIGNED_OUT)
    browser.sign_in(page.context)
    browser.until(page, "it isn't live again", LIVE)
    browser.until(page, "it shows nothing", "!document.querySelector('main [role=alert]') && document.querySelector('main .card') !== null")
    browser.complaints.clear()  # The browser itself notes that the connection was cut.
    page.context.close()
    print("the page went on after its stack had been away")


def signing_in(stack, browser):
    """Without a ticket or a token a browser sees no data, but how to get in; a ticket counts once, and signs in all tabs."""
    # The browser notes each refused request, so these pages aren't watched.
    context = browser.browser.new_context()
    page = context.new_page()
    page.goto(f"{browser.url}/#/nights")
    browser.until(page, "it doesn't say how to sign in", SIGNED_OUT)
    check(page.evaluate("async () => (await fetch('/api/days')).status") == 401, "days are read without signing in")
    found = Axe().run(axed(browser, browser.url), options={"runOnly": RULES}).response["violations"]
    check(not found, f"signing in: {[one['id'] for one in found]}")
    link = stack.link()
    other = context.new_page()
    other.goto(link)
    browser.drawn(other)
    check(other.locator("table.week").count() == 1 and "ticket" not in other.url, f"{other.url}: {other.locator('main').inner_text()}")
    browser.until(page, "the first tab isn't live", LIVE)
    browser.until(page, "the first tab shows nothing", "!document.querySelector('main [role=alert]') && document.querySelector('main .card') !== null")
    stranger = browser.browser.new_context().new_page()
    stranger.goto(link)
    browser.until(stranger, "a used ticket isn't refused", SIGNED_OUT)
    stranger.fill("input[name=token]", stack.token("read"))
    stranger.click("button[type=submit]")
    stranger.wait_for_selector("table.week")
    plain = browser.browser.new_context(java_script_enabled=False).new_page()
    check(plain.goto(browser.url).status == 401 and "healthbus open" in plain.locator("main").inner_text(), "without scripts it doesn't say how to sign in")
    for one in (page, stranger, plain):
        one.context.close()
    print("a ticket signed one browser in, once")


def axed(browser, url):
    """A page that isn't signed in and lets axe look."""
    page = browser.browser.new_context(bypass_csp=True).new_page()
    page.goto(url)
    browser.until(page, "it doesn't say how to sign in", SIGNED_OUT)
    return page


def sync_now(stack, browser):
    """The page says how fresh each metric is, the stalest first, and syncs at once, but not without a token."""
    reported = json.loads(stack.run("status", "--json"))
    page = browser.page(width=360)
    browser.show(page, "days")
    page.wait_for_selector(".fresh summary time")
    stalest = page.locator(".fresh summary time").get_attribute("datetime")
    check(stalest == reported["stalest"]["lastSynced"], f"the page says {stalest}, status says {reported['stalest']}")
    shown = page.locator(".fresh summary time").inner_text()
    check(re.search("now|ago", shown), f"it doesn't say how long ago that was: {shown}")
    page.locator(".fresh summary").focus()
    page.keyboard.press("Enter")
    times = page.eval_on_selector_all(".fresh tbody tr", "all => all.map((row) => row.querySelector('td:nth-child(2) time')?.dateTime ?? null)")
    check(len(times) == len(reported["metrics"]) and [one for one in times if one] == sorted(one["lastSynced"] for one in reported["metrics"] if one["lastSynced"]), f"the metrics aren't those of status: {times}")
    wide = page.evaluate("document.documentElement.scrollWidth")
    check(wide <= 360, f"with the metrics it is {wide} wide on a screen of 360")
    page.locator("#sync").focus()
    page.keyboard.press("Enter")
    page.fill(".fresh input[name=token]", stack.token("ingest"))
    page.click(".fresh button[type=submit]")
    page.wait_for_selector(".fresh [role=status] [data-result='noData']")
    eventually("the next sync is always too soon", lambda: press(page) == "noData")
    # A browser elsewhere has no say, with or without the cookie.
    refused = page.evaluate("async () => (await fetch('/api/sync', { method: 'POST', credentials: 'omit' })).status")
    check(refused == 401, f"a sync without a session is answered with {refused}")
    browser.complaints.clear()  # The browser itself notes the refused requests.
    found = Axe().run(axed_fresh(browser), options={"runOnly": RULES}).response["violations"]
    check(not found, f"freshness: {[one['id'] for one in found]}")
    print(f"{len(times)} metrics, the stalest first, and a sync that found nothing new")
    page.context.close()


def press(page):
    """Syncs, and returns what came of it."""
    page.click("#sync")
    page.wait_for_selector("#sync:not([aria-disabled])")
    reported = page.locator(".fresh [data-result]")
    return reported.get_attribute("data-result") if reported.count() else None


def axed_fresh(browser):
    """A page with the metrics shown that lets axe look."""
    page = browser.page(width=360, bypass_csp=True)
    browser.show(page, "days")
    page.wait_for_selector(".fresh summary time")
    page.click(".fresh summary")
    return page


def by_drop(stack, browser):
    """An export can be dropped on the page, but not without a token; the page then reports what was new."""
    stack.generate("week.zip", "--days", "7", "--seed", "99", "--end", "2024-02-07")
    page = browser.page()
    browser.show(page, "import")
    check(page.locator(".drop").count() == 0, "files are taken without a token")
    page.fill("input[name=token]", stack.token("ingest"))
    page.click("button[type=submit]")
    page.wait_for_selector(".drop")
    with open(stack.path("week.zip"), "rb") as file:
        content = list(file.read())
    transfer = page.evaluate_handle("""(bytes) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], 'my own week.zip', { type: 'application/zip' }));
        return transfer;
    }""", content)
    page.dispatch_event(".drop", "drop", {"dataTransfer": transfer})
    browser.until(page, "the file isn't listed as it was dropped", "[...document.querySelectorAll('main tbody th')].some((one) => one.innerText === 'my own week.zip')")
    browser.until(page, "the import isn't done", "document.querySelectorAll('main tbody tr').length >= 2 && [...document.querySelectorAll('main tbody tr')].every((row) => row.innerText.includes('done'))")
    eventually("the days of the import aren't there", lambda: any(day["date"] == "2024-02-05" for day in stack.days()))
    check("own week" not in stack.logged(), "the dropped file's name is in the log")
    print("an export was dropped on the page: " + " ".join(page.locator("main tbody tr").first.inner_text().split()))
    page.context.close()


def import_elsewhere(stack, browser):
    """An import begun with the command is shown on the open page, with its progress."""
    stack.generate("years.zip", "--days", "700", "--seed", "98", "--end", "2023-12-31")
    page = browser.page()
    browser.show(page, "import")
    browser.until(page, "it isn't live", LIVE)
    rows = page.locator("main tbody tr").count()
    page.evaluate("""() => {
        globalThis.shown = [];
        const keep = () => globalThis.shown.push(...[...document.querySelectorAll('main tbody tr')].map((row) => row.innerText));
        new MutationObserver(keep).observe(document.getElementById('main'), { childList: true, subtree: true });
    }""")
    stack.run("import", stack.path("years.zip"))
    done = "(rows) => { const all = [...document.querySelectorAll('main tbody tr')]; return all.length === rows && all.every((row) => row.innerText.includes('done')); }"
    browser.until(page, "the import isn't done", done, rows + 1)
    check(page.evaluate("() => globalThis.shown.some((row) => /reading \\d+/.test(row))"), "no progress of the import was shown")
    print("an import begun elsewhere was shown with its progress")
    page.context.close()


CHECKS = [signing_in, script, every_view, same_numbers, a_day, by_keyboard, in_german, late_sample, first_sight, own_types, many_tabs, a_hanging_stage, goes_on, sync_now, by_drop, import_elsewhere]


def main(programs, names):
    stack = Stack(programs, days=365)
    try:
        stack.start()
        with browsing(stack) as browser:
            for one in CHECKS:
                if not names or one.__name__ in names:
                    one(stack, browser)
            check(not browser.complaints, "\n".join(browser.complaints))
        print("The page shows what the stack holds.")
    finally:
        stack.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
