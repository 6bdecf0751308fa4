"""Samples that arrive while a stack runs: one at a time, and from many people at once. Each is pushed to the ingest, as
a phone does."""

import time

from door import NOON_AFTER, body
from measure import Failed

WINDOW = 1.0  # windowSeconds of the debouncer, as the default configuration has it
NOBODY = "nobody"
LONGEST_WAIT = 5.0  # maximumWaitSeconds


def one_by_one(stack, door, count, report=lambda number: None):
    """For each of `count` samples, the seconds from the start of its request until the backend has it, minus the window
    (`beyond`), and until the request is answered (`answered`)."""
    stack.until_backend_rests(quiet=2)
    have = stack.stats()["samples"]["alive"]
    connection, raw = door.connect(), []
    for number in range(count):
        report(number)
        begin = time.monotonic()
        answer = door.push(connection, body(number, 1, NOON_AFTER))
        answered = time.monotonic()
        if b'"added":1,' not in answer:
            raise Failed("a sample that should be new was known")
        seen = stack.until_backend_has(have + number + 1, within=30)
        raw.append({"beyond": round(seen - begin - WINDOW, 4), "answered": round(answered - begin, 4)})
    connection.close()
    return raw


def cost_of_one(stack, door, count, first, report=lambda number: None):
    """Milliseconds of processor time that all processes of the stack use per new sample, including what an idle stack
    uses in that time. The backend isn't polled during the measurement. - first: the number of the first sample; earlier
    ones are known."""
    connection, before = door.connect(), stack.threads()
    for number in range(first, first + count):
        report(number)
        begin = time.monotonic()
        door.push(connection, body(number, 1, NOON_AFTER))
        time.sleep(max(0, WINDOW + 0.7 - (time.monotonic() - begin)))
    connection.close()
    return sum(now - before.get(task, 0) for task, now in stack.threads().items()) / 1e6 / count


class Crowd:
    """Many people with one stack, each with a year of samples."""

    EXPORTS = 20  # different ones; a sample's id depends on its user too, so two people's are never the same

    def __init__(self, stack, door, exports, users, records, report=lambda number: None):
        self.stack, self.door, self.users = stack, door, users
        paths = [exports.made(f"year-{records}-{number + 1}", records, 365, seed=str(number + 1))
                 for number in range(min(self.EXPORTS, users))]
        for user in range(users):
            report(user)
            stack.ask("import", "--user", self.name(user), paths[user % len(paths)])
            door.token(self.name(user))
        stack.until_backend_rests(within=3600)

    @staticmethod
    def name(user):
        return f"user-{user + 1}"

    def live(self, rate, seconds):
        """Sends `rate` samples per second, each for a different person, for `seconds`. Returns, for each, the seconds
        from the start of its request until the backend has it, minus the longest wait of the debouncer; and the share
        of a core that the stack used, in percent."""
        begin, before = time.monotonic(), sum(self.stack.processor().values())
        waiting, raw, connection = [], [], self.door.connect()
        self.sequence = None
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            while time.monotonic() < due:
                self._look(waiting, raw)
                time.sleep(0.01)
            user = self.name(number % self.users)
            have = self.stack.stats(user)["samples"]["alive"]
            waiting.append((user, have, time.monotonic()))
            self.door.push(connection, body(number, 1, NOON_AFTER), user)
        connection.close()
        passed, used = time.monotonic() - begin, sum(self.stack.processor().values()) - before
        end = time.monotonic() + 60
        while waiting:
            self._look(waiting, raw)
            if time.monotonic() > end:
                raise Failed(f"{len(waiting)} of {int(rate * seconds)} live samples aren't at the backend after a minute")
            time.sleep(0.01)
        return raw, used / passed * 100

    def _look(self, waiting, raw):
        # While nothing changes, polling sends only one query, about a user without data, so that it stays a small part
        # of the stack's work.
        sequence = self.stack.stats(NOBODY)["sequence"]
        if sequence == self.sequence:
            return
        self.sequence = sequence
        for entry in list(waiting):
            user, have, begin = entry
            if self.stack.stats(user)["samples"]["alive"] <= have:
                continue
            raw.append(round(time.monotonic() - begin - LONGEST_WAIT, 4))
            waiting.remove(entry)
