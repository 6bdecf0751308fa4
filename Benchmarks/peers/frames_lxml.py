"""apple-health-parser: every type in an export as a data frame. Prints the number of rows."""

import sys

from apple_health_parser.utils.parser import Parser

parser = Parser(sys.argv[1], output_dir=sys.argv[2], overwrite=True)
rows = 0
for flag in parser.flags:
    try:
        rows += len(parser.get_flag_records(flag).records)
    except Exception as problem:  # a type that its models don't accept is named and left out
        print(f"{flag}: {type(problem).__name__}", file=sys.stderr)
print(f"{rows} rows")
