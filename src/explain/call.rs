//! Explanations of what goes wrong with `tools/call`.

use super::Explanation;

pub(super) const TOOL_ERROR: Explanation = Explanation {
    cause: "The tool itself says that the call failed (`isError`): wrong arguments, a key that is not accepted, a service behind it that does not answer.",
    evidence: "How many of the calls failed, and the tool's own words. None of them is a sample.",
    cure: "Mend what the text names. Where refusing is the right answer, say so by `expect = { error = \"…\" }`, and it becomes a sample.",
};

pub(super) const RPC_ERROR: Explanation = Explanation {
    cause: "A call was answered with a JSON-RPC error: the server does not know the tool, does not like its arguments (-32602), or broke inside (-32603).",
    evidence: "Code and message of the first such error, and how many calls met one.",
    cure: "Hold the probe's `arguments` against the tool's input schema in the record; what broke inside is on stderr in the row's log.",
};

pub(super) const RATE_LIMITED: Explanation = Explanation {
    cause: "A service behind the server asked for fewer calls; the calls after that one were not made, so as not to make it worse.",
    evidence: "The words of the limit, and at which call it came.",
    cure: "Lower the probe's `calls`, or give the row a key with a higher limit.",
};

pub(super) const CALL_TIMEOUT: Explanation = Explanation {
    cause: "A call had no complete answer within its limit. Progress messages do not extend it.",
    evidence: "What came meanwhile, how many of the calls it befell, and the last words on stderr.",
    cure: "See in the log what the server was doing. A call that has to take longer gets a `timeout` in its probe.",
};

pub(super) const CALL_UNSUPPORTED: Explanation = Explanation {
    cause: "The call needs something of the client that mcp-smoke does not offer: sampling, elicitation, a task, or an input that a person would give.",
    evidence: "What it needs, as the server says it (-32021, -32042, task only, `input_required`).",
    cure: "Probe another tool of that server, one that answers by itself; nothing is wrong with the server.",
};

pub(super) const UNEXPECTED_RESULT: Explanation = Explanation {
    cause: "The call was answered, but the answer is not what the probe expects. A server that answers quickly and wrongly is not working.",
    evidence: "Expected and actual stand side by side, the answer shortened; the wire log has all of it.",
    cure: "If the answer is right, correct the probe's `expect`; if it is not, this is what the probe is for.",
};

pub(super) const CALL_INVALID: Explanation = Explanation {
    cause: "The result of a call is not as the protocol wants it: no `content`, a part without its type, or `structuredContent` that does not fit the tool's own output schema. Strict clients refuse such a result.",
    evidence: "The part and what is wrong with it; the result is in the wire log.",
    cure: "For the server's maintainer: report it with the tool's output schema and that result.",
};

pub(super) const SOFT_ERROR: Explanation = Explanation {
    cause: "The reply is no error by the protocol, but reads like one (\"invalid API key\", \"not found\"), and the probe says nothing about what it expects, so that the call counts as good.",
    evidence: "The start of the reply stands in the finding, the whole of it in the wire log.",
    cure: "Give the probe an `expect` that holds what a good reply contains, or `expect = { error = … }` where it should be refused.",
};

pub(super) const LATENCY_REGRESSION: Explanation = Explanation {
    cause: "The timed call took clearly longer than on earlier nights of the same host, runtime, version, jobs and calls: its median is above 1.5 times the median of those nights' medians and above the slowest of them, and above the usual by more than the client itself may account for that night (the calibration's p95, and 0.1 ms in any case). At least five such nights are needed, ten where they scatter by more than 10 %, and five samples in each session.",
    evidence: "Tonight's median, the earlier one, and how many nights that is; the load of the host just before the row is in the record. `mcp-smoke history ROW` draws all nights.",
    cure: "Look at the load first: other rows of that night slower too means the machine. A service behind the server is the next suspect. Nights after the change become the measure by themselves.",
};
