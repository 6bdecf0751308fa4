"""parse-apple-health-data: an export's XML as data frames. Prints the number of rows."""

import sys

from parse_apple_health_data import load_health_data

print(f"{sum(len(frame) for frame in load_health_data(sys.argv[1]).to_dataframes().values())} rows")
