"""Samples that come in while a stack runs: one at a time, and from many people at once. Each comes as it can come today: as an export with one record."""

import datetime
import os
import time

from exports import DAY_AFTER
from measure import Failed

WINDOW = 1.0  # windowSeconds of the debouncer, as the default configuration has it
LONGEST_WAIT = 5.0  # maximumWaitSeconds
TYPES = [("HKQuantityTypeIdentifierHeartRate", "count/min", "65"), ("HKQuantityTypeIdentifierStepCount", "count", "31")]


def export_of_one(path, number):
    """An export with one record; another `number` is another sample."""
    kind, unit, value = TYPES[number % len(TYPES)]
    second = 12 * 3600 + number
    at = f"{DAY_AFTER} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} +0200"
    with open(path, "w") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_DE">\n'
            f' <ExportDate value="{at}"/>\n <Record type="{kind}" sourceName="Bench" sourceVersion="1" unit="{unit}" '
            f'creationDate="{at}" startDate="{at}" endDate="{at}" value="{value}"/>\n</HealthData>\n')
    return path


def one_by_one(stack, folder, count, tell=lambda number: None):
    """Of each of `count` samples, until the backend has it, in seconds beyond the window: from the start of `healthbus import` (`beyond`), and from
    when the observer had it in its store (`stored`)."""
    stack.until_backend_rests(quiet=2)
    have = stack.stats()["samples"]["alive"]
    path = os.path.join(folder, "one.xml")
    raw = []
    for number in range(count):
        tell(number)
        export_of_one(path, number)
        begin, offset = time.monotonic(), time.time() - time.monotonic()
        command = stack.command("import", path)
        seen = stack.until_backend_has(have + number + 1, within=30)
        if stack.result(command)["files"][0]["added"] != 1:
            raise Failed("a sample that should be new was known")
        stored = last_import_ended(stack.state) - offset
        raw.append({"beyond": round(seen - begin - WINDOW, 4), "stored": round(seen - stored - WINDOW, 4)})
    return raw


def cost_of_one(stack, folder, count, first, tell=lambda number: None):
    """Milliseconds of processor time that all processes of the stack take for one new sample, `healthbus import` left out, and what rest takes meanwhile.
    Nobody asks the backend meanwhile. - first: the number of the first sample; those before are known."""
    path = os.path.join(folder, "one.xml")
    before = stack.threads()
    for number in range(first, first + count):
        tell(number)
        export_of_one(path, number)
        begin = time.monotonic()
        stack.ask("import", path)
        time.sleep(max(0, WINDOW + 0.7 - (time.monotonic() - begin)))
    return sum(now - before.get(task, 0) for task, now in stack.threads().items()) / 1e6 / count


def last_import_ended(state):
    """When, seconds since 1970, by the observer's log, which tells milliseconds."""
    with open(os.path.join(state, "observer", "log"), errors="replace") as log:
        ended = [line.split()[0] for line in log if " import.ended " in line]
    if not ended:
        raise Failed("the observer's log has no import that ended")
    return datetime.datetime.fromisoformat(ended[-1].replace("Z", "+00:00")).timestamp()


class Crowd:
    """Many people at one stack, each with a year of samples."""

    EXPORTS = 20  # different ones; the id of a sample is made of its user too, so two people's never are the same

    def __init__(self, stack, exports, folder, users, records, tell=lambda number: None):
        self.stack, self.folder, self.users = stack, folder, users
        paths = [exports.made(f"year-{records}-{number + 1}", records, 365, seed=str(number + 1))
                 for number in range(min(self.EXPORTS, users))]
        for user in range(users):
            tell(user)
            stack.ask("import", "--user", self.name(user), paths[user % len(paths)])
        stack.until_backend_rests(within=3600)

    @staticmethod
    def name(user):
        return f"user-{user + 1}"

    def live(self, rate, seconds):
        """`rate` samples a second, each of another person, for `seconds`. Of each: seconds from the start of its `healthbus import` until the backend has
        it, beyond the longest wait of the debouncer; and the share of a core that the stack took, in percent."""
        begin, before = time.monotonic(), sum(self.stack.processor().values())
        waiting, raw = [], []
        self.sequence = None
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            while time.monotonic() < due:
                self._look(waiting, raw)
                time.sleep(0.01)
            user = self.name(number % self.users)
            have = self.stack.stats(user)["samples"]["alive"]
            path = export_of_one(os.path.join(self.folder, f"one-{number % 200}.xml"), number)
            waiting.append((user, have, time.monotonic(), self.stack.command("import", "--user", user, path)))
        passed, used = time.monotonic() - begin, sum(self.stack.processor().values()) - before
        end = time.monotonic() + 60
        while waiting:
            self._look(waiting, raw)
            if time.monotonic() > end:
                raise Failed(f"{len(waiting)} of {int(rate * seconds)} live samples aren't at the backend after a minute")
            time.sleep(0.01)
        return raw, used / passed * 100

    def _look(self, waiting, raw):
        # One question while nothing comes, so that asking is little of what the stack does.
        sequence = self.stack.stats()["sequence"]
        if sequence == self.sequence:
            return
        self.sequence = sequence
        for entry in list(waiting):
            user, have, begin, command = entry
            if self.stack.stats(user)["samples"]["alive"] <= have:
                continue
            raw.append(round(time.monotonic() - begin - LONGEST_WAIT, 4))
            waiting.remove(entry)
            self.stack.result(command)
