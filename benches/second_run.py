"""How much of a second run is ours: its wall time over what the servers themselves took.

Runs the committed fleet once more (a first run must have installed it) and divides the wall time by
the sum of all sessions, from spawn to gone, as the wire logs and the record tell it. Nothing may be
installed. Prints one line; arguments are passed on to `run`.
"""

import json
import os
import subprocess
import sys
import time

BINARY = os.environ.get("MCP_SMOKE", "target/release/mcp-smoke")
began = time.monotonic()
done = subprocess.run([BINARY, "run", "--install", "missing", "--output", "none", *sys.argv[1:]])
wall = (time.monotonic() - began) * 1000
if done.returncode not in (0, 3):
    sys.exit(f"the run ended with {done.returncode}")
record = json.load(open("reports/latest/report.json"))
installed = [row["id"] for row in record["rows"] if row["install_ms"] is not None]
sessions = [session for row in record["rows"] for session in row["sessions"]]
servers = sum(session["total_ms"] for session in sessions)
print(f"mcp-smoke  {wall / servers:.3f}x of what the servers took: {wall / 1000:.1f} s wall over {servers / 1000:.1f} s"
      f" in {len(sessions)} sessions of {len(record['rows'])} rows, load {record['host']['load_average'][0]}")
if installed:
    sys.exit(f"installed again: {', '.join(installed)}")
