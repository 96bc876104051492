"""Rows per second and peak memory of `mcp-smoke run` over 10, 100 and 1,000 rows of its own echo server.

    cargo build --release && python3 benches/rows.py

Beside each size, in the same run, twice in turns: a bare loop that starts the same server as often, two at
a time as `--jobs 2` does, and does what a row needs at least: handshake, list, one call, stdin closed, exit
awaited. The ratio is rows per second over those of the bare loop; the best of the turns counts for both.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SIZES = [10, 100, 1000]
JOBS = 2
TURNS = 2
REQUESTS = [
    {"id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "0"}}},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list", "params": {}},
    {"id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hi"}}},
]


def manifest(rows):
    servers = [
        f'[servers.echo{number}]\ncommand = "${{self}}"\nargs = ["echo-server"]\n'
        f'[[servers.echo{number}.probes]]\ntool = "echo"\narguments = {{ text = "hi" }}\nexpect = {{ text = "hi" }}\n'
        for number in range(rows)
    ]
    return "\n".join(servers)


def one_row_bare(binary):
    server = subprocess.Popen([binary, "echo-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for request in REQUESTS:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
        server.stdin.flush()
        if "id" in request:
            assert json.loads(server.stdout.readline())["id"] == request["id"]
    server.stdin.close()
    assert server.wait() == 0


def bare(binary, rows):
    began = time.monotonic()
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda _: one_row_bare(binary), range(rows)))
    return time.monotonic() - began


def by_us(binary, rows):
    """Seconds and the peak of the resident memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "servers.toml").write_text(manifest(rows))
        began = time.monotonic()
        run = subprocess.Popen(
            [binary, "run", "--jobs", str(JOBS), "--calls", "1", "--output", "none"],
            cwd=folder, stdin=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(run.pid, 0)
        took = time.monotonic() - began
        run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode != 0:
            sys.exit(f"the run over {rows} rows ended with {run.returncode}")
    return took, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", default="target/release/mcp-smoke")
    binary = str(Path(parser.parse_args().binary).resolve())
    load = os.getloadavg()[0]
    print("| Rows | mcp-smoke (rows/s) | bare loop (rows/s) | ratio | peak memory (MiB) |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for rows in SIZES:
        turns = [(by_us(binary, rows), bare(binary, rows)) for _ in range(TURNS)]
        ours = rows / min(took for (took, _), _ in turns)
        loop = rows / min(took for _, took in turns)
        peak = max(memory for (_, memory), _ in turns)
        print(f"| {rows} | {ours:.0f} | {loop:.0f} | {ours / loop:.2f} | {peak:.0f} |", flush=True)
    print(f"\n{datetime.date.today()}, load {load:.1f} before and {os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores.")


main()
