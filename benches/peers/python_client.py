"""One row by the official Python SDK: a launch as `mcp-smoke stage` prints it on stdin, a line of
JSON with what was seen and how long it took on stdout.

A call is timed as a user of the SDK would time it: around `await client.call_tool(...)`. The SDK is
used as it comes; only the handshake is fixed to `initialize`, which is what the other clients use here.
"""

import asyncio
import contextlib
import json
import os
import sys
import time

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client


def milliseconds(began):
    return (time.perf_counter_ns() - began) / 1e6


async def all_tools(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            return names


def came_as_expected(expect, text, is_error):
    if expect["error"] is not None:
        return is_error and expect["error"] in text
    if is_error:
        return False
    return (expect["text"] or "") in text and not (expect["not_text"] and expect["not_text"] in text)


async def call(client, probe):
    began = time.perf_counter_ns()
    try:
        result = await client.call_tool(probe["tool"], probe["arguments"])
    except Exception as error:  # an error of the protocol may be what the probe expects
        return milliseconds(began), came_as_expected(probe["expect"], str(error), True)
    took = milliseconds(began)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return took, came_as_expected(probe["expect"], text, bool(result.is_error))


async def measure(launch):
    server = StdioServerParameters(
        command=launch["command"], args=launch["args"], env=launch["env"], cwd=launch["cwd"]
    )
    seen = {"samples_ms": [], "failures": 0}
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        began = time.perf_counter_ns()
        async with Client(stdio_client(server, errlog=nowhere), mode="legacy") as client:
            seen["cold_start_ms"] = milliseconds(began)
            seen["name"] = client.server_info.name
            seen["version"] = client.server_info.version
            began = time.perf_counter_ns()
            seen["tools"] = await all_tools(client)
            seen["list_ms"] = milliseconds(began)
            for probe in launch["probes"][:1]:
                for number in range(probe["warmup"] + probe["calls"]):
                    took, as_expected = await call(client, probe)
                    if not as_expected:
                        seen["failures"] += 1
                    elif number >= probe["warmup"]:
                        seen["samples_ms"].append(took)
    return seen


def main():
    launch = json.loads(sys.stdin.readline())
    # Whatever the SDK prints must not stand beside the result.
    with contextlib.redirect_stdout(sys.stderr):
        seen = asyncio.run(measure(launch))
    print(json.dumps(seen))


main()
