"""The official Python and TypeScript SDK clients beside mcp-smoke, over the same rows in one run.

    python3 benches/peers/run.py                       every row of servers.toml
    python3 benches/peers/run.py --calls 1000 echo     some rows

Row by row, round by round, the three take turns in an order that moves on by one each time; each starts
a server process of its own, with fixtures of its own, from the launch that `mcp-smoke stage` gives.
Prints a Markdown table: median and p95 of the timed call in milliseconds, the ratio of the medians, and
whether all three saw the same tools, name and version. What was seen goes to .mcp-smoke/peers/figures.json.

The clients are set up in .mcp-smoke/peers on the first run. A call through an SDK is timed around its
own call function, so its parsing and validation count: that is what timing with an SDK gives.
"""

import argparse
import datetime
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OURS, PYTHON, TYPESCRIPT = "mcp-smoke", "Python SDK", "TypeScript SDK"
CLIENTS = [OURS, PYTHON, TYPESCRIPT]
PYTHON_PACKAGE = "mcp==2.3.0"
NODE_PACKAGE = "@modelcontextprotocol/client@2.4.0"
# A row that hangs in a client must not hang the bench.
ROW_LIMIT_SECONDS = 600


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", nargs="*", help="selectors as for `mcp-smoke run`; all rows if none")
    parser.add_argument("--binary", default="target/release/mcp-smoke", help="the mcp-smoke to measure with")
    parser.add_argument("--manifest", default="servers.toml")
    parser.add_argument("--calls", type=int, help="calls per row (the manifest's by default)")
    parser.add_argument("--rounds", type=int, default=1, help="sessions per row and client")
    parser.add_argument("--node", default="node", help="the node that runs the TypeScript client")
    given = parser.parse_args()
    given.binary = str(Path(given.binary).resolve())
    given.manifest = str(Path(given.manifest).resolve())
    given.folder = Path(given.manifest).parent / ".mcp-smoke" / "peers"
    return given


def set_up(given):
    """The SDK clients, installed once, at the versions named above."""
    python, node = given.folder / "python", given.folder / "node"
    quiet = {"check": True, "stdout": sys.stderr}
    if not (python / PYTHON_PACKAGE).exists():
        subprocess.run([sys.executable, "-m", "venv", python], **quiet)
        pip = [python / "bin/pip", "install", "-q", "--disable-pip-version-check", PYTHON_PACKAGE]
        subprocess.run(pip, **quiet)
        (python / PYTHON_PACKAGE).touch()
    installed = node / NODE_PACKAGE.replace("/", "+")
    if not installed.exists():
        node.mkdir(parents=True, exist_ok=True)
        (node / "package.json").write_text('{ "private": true }\n')
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", NODE_PACKAGE]
        subprocess.run(npm, cwd=node, **quiet)
        installed.touch()
    return {
        PYTHON: [str(python / "bin/python"), str(HERE / "python_client.py")],
        TYPESCRIPT: [given.node, str(HERE / "typescript_client.mjs"), str(node)],
    }


def row_ids(given):
    listed = subprocess.run(
        [given.binary, "list", "--manifest", given.manifest, *given.rows],
        check=True, capture_output=True, text=True,
    )
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def put_in_place(given):
    """Installs what is missing, so that no installation runs beside a measurement."""
    subprocess.run(
        [given.binary, "stage", "--manifest", given.manifest, *given.rows],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )


def calls_flag(given):
    return ["--calls", str(given.calls)] if given.calls else []


def by_us(given, row):
    """One run of one row; what its record says."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [given.binary, "run", row, "--manifest", given.manifest, "--output", "json", *calls_flag(given),
             "--reports", f"{folder}/reports", "--logs", f"{folder}/logs"],
            capture_output=True, text=True, timeout=ROW_LIMIT_SECONDS, stdin=subprocess.DEVNULL,
        )
    record = json.loads(run.stdout)
    (found,) = record["rows"]
    if found["status"] == "skip":
        return {"skipped": found["skip_reason"] or "skipped"}
    session = [session for session in found["sessions"] if session["repeat"]][0]
    reported = found["identity"]["reported"] or {}
    probes = session["probes"]
    return {
        "samples_ms": probes[0]["samples_ms"] if probes else [],
        "failures": 0,
        "cold_start_ms": session["cold_start_ms"],
        "list_ms": session["list_ms"],
        "name": reported.get("name"),
        "version": reported.get("version"),
        "tools": found["tools"]["names"],
        "calibration": record["calibration"],
    }


def by_peer(given, row, client):
    """One session of a peer over fixtures of its own, which live as long as `stage` does."""
    stage = subprocess.Popen(
        [given.binary, "stage", row, "--manifest", given.manifest, *calls_flag(given)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    try:
        line = stage.stdout.readline()
        launch = json.loads(line)
        if "skipped" in launch:
            return launch
        ran = subprocess.run(
            client, input=line, capture_output=True, text=True, timeout=ROW_LIMIT_SECONDS,
        )
        if ran.returncode != 0:
            return {"failed": ran.stderr.strip().splitlines()[-1:] or ["it said nothing"]}
        return json.loads(ran.stdout.splitlines()[-1])
    finally:
        stage.stdin.close()
        stage.wait()


def median(samples):
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def p95(samples):
    return sorted(samples)[math.ceil(0.95 * len(samples)) - 1]


def pooled(sessions):
    return [sample for session in sessions for sample in session.get("samples_ms", [])]


def figure(samples, ours):
    if not samples:
        return "–"
    ratio = "" if samples is ours or not ours else f" ({median(samples) / median(ours):.2f}x)"
    return f"{median(samples):.3f} / {p95(samples):.3f}{ratio}"


def what_differs(seen):
    """Names of what the three do not agree on."""
    first = {client: sessions[0] for client, sessions in seen.items()}
    for client, session in first.items():
        if "skipped" in session:
            return "skipped"
        if "failed" in session:
            return f"{client} failed: {session['failed'][0]}"
    differing = [
        key for key in ("tools", "name", "version")
        if any(session[key] != first[OURS][key] for session in first.values())
    ]
    failures = sum(session.get("failures", 0) for sessions in seen.values() for session in sessions)
    said = ["equal" if not differing else "differ: " + ", ".join(differing)]
    return "; ".join(said + ([f"{failures} calls failed"] if failures else []))


def print_table(figures, given):
    print(f"| Row | n | {OURS} median / p95 (ms) | {PYTHON} | {TYPESCRIPT} | Tools | Tools, name, version |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    slower = []
    for row, seen in figures.items():
        samples = {client: pooled(sessions) for client, sessions in seen.items()}
        ours = samples[OURS]
        cells = [figure(samples[client], ours) for client in CLIENTS]
        tools = len(seen[OURS][0].get("tools", [])) or "–"
        print(f"| {row} | {len(ours) or '–'} | {' | '.join(cells)} | {tools} | {what_differs(seen)} |")
        theirs = [median(samples[client]) for client in (PYTHON, TYPESCRIPT) if samples[client]]
        if ours and median(ours) < 1 and theirs and median(ours) >= min(theirs):
            slower.append(row)
    below = [row for row, seen in figures.items() if pooled(seen[OURS]) and median(pooled(seen[OURS])) < 1]
    print()
    print(f"Rows below a millisecond: {len(below)}; ours is not the lowest median on: {', '.join(slower) or 'none'}.")
    equal = sum(what_differs(seen) == "equal" for seen in figures.values())
    skipped = sum(what_differs(seen) == "skipped" for seen in figures.values())
    print(f"Tools, names and versions equal on {equal} of {len(figures)} rows, {skipped} skipped.")
    print(
        f"{datetime.date.today()}, {given.rounds} session(s) per row and client, load {given.load} before and "
        f"{os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores, {platform.system()} {platform.machine()}; "
        f"{PYTHON_PACKAGE} on Python {platform.python_version()}, {NODE_PACKAGE} on Node "
        f"{subprocess.run([given.node, '--version'], capture_output=True, text=True).stdout.strip()}."
    )


def main():
    given = arguments()
    if not shutil.which(given.binary):
        sys.exit(f"there is no {given.binary}: `cargo build --release` first, or name it by --binary")
    clients = set_up(given)
    rows = row_ids(given)
    put_in_place(given)
    given.load = f"{os.getloadavg()[0]:.1f}"
    figures = {row: {client: [] for client in CLIENTS} for row in rows}
    turn = 0
    for _ in range(given.rounds):
        for row in rows:
            for place in range(len(CLIENTS)):
                client = CLIENTS[(turn + place) % len(CLIENTS)]
                began = time.monotonic()
                seen = by_us(given, row) if client == OURS else by_peer(given, row, clients[client])
                figures[row][client].append(seen)
                print(f"{row}: {client} {time.monotonic() - began:.1f} s", file=sys.stderr)
            turn += 1
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "figures.json").write_text(json.dumps(figures, indent=1))
    print_table(figures, given)


main()
