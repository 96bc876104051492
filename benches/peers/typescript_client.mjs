// One row by the official TypeScript SDK: a launch as `mcp-smoke stage` prints it on stdin, a line of
// JSON with what was seen and how long it took on stdout.
//
// A call is timed as a user of the SDK would time it: around `await client.callTool(...)`. The SDK is
// used as it comes; its default handshake is `initialize`. It is loaded from the folder given as the
// first argument.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(`${process.argv[2]}/package.json`));
const load = name => import(pathToFileURL(require.resolve(name).replace(/\.cjs$/, '.mjs')));
const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const milliseconds = began => Number(process.hrtime.bigint() - began) / 1e6;

async function allTools(client) {
    const names = [];
    let cursor;
    do {
        const page = await client.listTools(cursor ? { cursor } : undefined);
        names.push(...page.tools.map(tool => tool.name));
        cursor = page.nextCursor;
    } while (cursor);
    return names;
}

function cameAsExpected(expect, text, isError) {
    if (expect.error !== null) return isError && text.includes(expect.error);
    if (isError) return false;
    return text.includes(expect.text ?? '') && !(expect.not_text && text.includes(expect.not_text));
}

async function call(client, probe) {
    const began = process.hrtime.bigint();
    try {
        const result = await client.callTool({ name: probe.tool, arguments: probe.arguments });
        const took = milliseconds(began);
        const text = result.content.map(block => block.text ?? '').join('\n');
        return [took, cameAsExpected(probe.expect, text, result.isError === true)];
    } catch (error) {
        // An error of the protocol may be what the probe expects.
        return [milliseconds(began), cameAsExpected(probe.expect, String(error), true)];
    }
}

const launch = JSON.parse(readFileSync(0, 'utf8').split('\n')[0]);
const { command, args, env, cwd } = launch;
const seen = { samples_ms: [], failures: 0 };
const client = new Client({ name: 'peer', version: '0' });
let began = process.hrtime.bigint();
await client.connect(new StdioClientTransport({ command, args, env, cwd, stderr: 'ignore' }));
seen.cold_start_ms = milliseconds(began);
seen.name = client.getServerVersion()?.name;
seen.version = client.getServerVersion()?.version;
began = process.hrtime.bigint();
seen.tools = await allTools(client);
seen.list_ms = milliseconds(began);
for (const probe of launch.probes.slice(0, 1)) {
    for (let number = 0; number < probe.warmup + probe.calls; number++) {
        const [took, asExpected] = await call(client, probe);
        if (!asExpected) seen.failures++;
        else if (number >= probe.warmup) seen.samples_ms.push(took);
    }
}
await client.close();
console.log(JSON.stringify(seen));
