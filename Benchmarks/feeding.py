"""Feeds a stack at a steady rate, as many phones together do."""

import time

from door import NOON_AFTER, body

BATCH = 200


def fed(stack, door, first, rate, seconds):
    """Sends `rate` samples a second, numbered from `first` on. - Returns: samples per second that reached the backend,
    and the processor seconds that the stack used."""
    count = int(rate * seconds)
    have, before = stack.stats()["samples"]["alive"], sum(stack.processor().values())
    connection, begin = door.connect(), time.monotonic()
    for number in range(0, count, BATCH):
        time.sleep(max(0, begin + number / rate - time.monotonic()))
        door.push(connection, body(first + number, BATCH, NOON_AFTER))
    connection.close()
    seen = stack.until_backend_has(have + count, within=120, every=0.02)
    return count / (seen - begin), sum(stack.processor().values()) - before
