"""Holds the record of the real fleet against what must be true of it. Prints a closing line."""

import json
import os
import subprocess
import sys

path, code = sys.argv[1], int(sys.argv[2])
record = json.load(open(path))
passed, problems = 0, []


def check(what, holds):
    global passed
    if holds:
        passed += 1
    else:
        problems.append(what)
        print("FAILED:", what)


# The codes that speak of versions and tools: packages move without our doing.
VERSIONS_AND_TOOLS = set("""runtime-mismatch name-changed version-mismatch version-downgrade version-unverifiable held-back
tool-removed tool-count-changed tool-schema-changed version-split version-changed runtime-changed tool-reworded tool-drift
not-in-lock version-upgraded tool-added behind-newest reported-version-stale""".split())

rows = {row["id"]: row for row in record["rows"]}
check(f"exit code {code} is 0 or 3", code in (0, 3))
check("the record says the same", record["exit_code"] == code)
check(f"{len(rows)} rows are at least 21", len(rows) >= 21)
check("totals add up", sum(record["totals"][s] for s in ("pass", "warn", "fail", "skip", "error")) == len(rows))
check("calibration was measured", (record["calibration"] or {}).get("median_ms") is not None)
for row_id, row in rows.items():
    failing = [f for f in row["findings"] if f["severity"] == "fail" and f["code"] not in VERSIONS_AND_TOOLS]
    check(f"{row_id}: {[(f['code'], f['message']) for f in failing]}", not failing)
    if row["status"] == "skip":
        check(f"{row_id} is skipped as {row['skip_reason']}", row["server"] == "context7" and row["skip_reason"] == "offline")
        continue
    session = row["sessions"][0]
    check(f"{row_id} has a cold start and a list time", session["cold_start_ms"] > 0 and session["list_ms"] > 0)
    check(f"{row_id} left nothing behind", not any(s["left_over"] for s in row["sessions"]))
    check(f"{row_id} has a runtime", row["identity"]["runtime"]["version"] or row["server"] == "echo")
    for probe in row["probes"]:
        check(f"{row_id} {probe['name']} has samples", probe["samples_ms"] and probe["failures"] == 0)

# Installed and runtime are true: npm, pip and the runtimes say the same.
for row_id, row in rows.items():
    package, runtime = row["identity"]["package"], row["identity"]["runtime"]
    if row["status"] == "skip" or not package["name"]:
        continue
    if package["ecosystem"] == "npm":
        on_disk = json.load(open(os.path.join(package["path"], "package.json")))["version"]
        major = row["runtime"].removeprefix("node")
        check(f"{row_id} ran on Node {runtime['version']}", runtime["version"].split(".")[0] == major)
    else:
        meta = open(os.path.join(package["path"], "METADATA"), encoding="utf-8").read()
        on_disk = next(line.split(": ", 1)[1] for line in meta.splitlines() if line.startswith("Version: "))
    check(f"{row_id}: {package['name']} {package['installed']} is {on_disk} on disk", package["installed"] == on_disk)
    said = subprocess.run([runtime["executable"], "--version"], capture_output=True, text=True).stdout
    check(f"{row_id}: runtime {runtime['version']} is what it says ({said.strip()})", runtime["version"] in said)

print(f"{passed} passed, {len(problems)} failed")
sys.exit(1 if problems else 0)
