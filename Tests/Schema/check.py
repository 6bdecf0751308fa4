"""Checks CBOR items against the rules of a CDDL file.

Usage: check.py FILE.cddl < requests > answers

A request is a line: the rule's name, a space, and the item in hexadecimal. The answer is a line: "ok", or what is
wrong.
"""

import sys

from pycddl import Schema, ValidationError


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    schemas = {}
    for line in sys.stdin:
        rule, _, item = line.rstrip("\n").partition(" ")
        if rule not in schemas:
            # Only the first rule in a schema file is checked, so the rule to check is put first.
            schemas[rule] = Schema(f"checked = {rule}\n{text}")
        try:
            schemas[rule].validate_cbor(bytes.fromhex(item))
            print("ok")
        except ValidationError as error:
            print(" ".join(str(error).split())[:300] or "doesn't match")


if __name__ == "__main__":
    main()
