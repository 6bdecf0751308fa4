#!/usr/bin/env python3
"""Takes the pictures of the README and the documentation, from a made-up year: pictures.py <folder of the programs> <folder of the pictures>"""

import os
import sys

from stack import Stack, browsing, views

# : A picture: its view, its theme (light or dark), and its size.
PICTURES = [("days", 0, "light", 1180, 1000), ("day", 1, "light", 1180, 1180), ("nights", 2, "dark", 1180, 1000), ("workout", 4, "light", 1180, 1180),
            ("pipeline", 8, "dark", 1180, 860), ("days-phone", 0, "light", 390, 844)]


def main(programs, folder):
    stack = Stack(programs, days=365, seed=3)
    try:
        stack.start()
        os.makedirs(folder, exist_ok=True)
        with browsing(stack) as browser:
            for name, place, scheme, width, height in PICTURES:
                page = browser.page(scheme, width, height, language="en-GB")
                browser.show(page, views(stack)[place])
                browser.until(page, "it isn't live", "document.getElementById('state').textContent === 'Live'")
                path = os.path.join(folder, f"{name}.png")
                page.screenshot(path=path)
                print(f"{path}: {os.path.getsize(path) // 1000} kB")
                page.context.close()
    finally:
        stack.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
