//! Explanations of what is wrong with the lines a server writes.

use super::Explanation;

pub(super) const BAD_FRAMING: Explanation = Explanation {
    cause: "The server's messages are not one line each: `Content-Length` headers, pretty-printed JSON, raw line breaks inside a string, or no line end. No client on stdio can read that.",
    evidence: "What it looks like, with an excerpt; every line as it came is in the wire log.",
    cure: "For the server's maintainer: one JSON message per line, as the stdio transport says. Sometimes a flag for another protocol (LSP) is set by mistake.",
};

pub(super) const OUTPUT_LIMIT: Explanation = Explanation {
    cause: "One line of the server's was longer than the limit; it was not read to its end, and the session could not go on.",
    evidence: "The limit stands in the finding, the start of the line in the wire log.",
    cure: "Probe with arguments that make a smaller reply; a list of tools that long would fill any model's context.",
};

pub(super) const ID_MISMATCH: Explanation = Explanation {
    cause: "An answer carries another id than its request. One whose number came back as a string is only a warning; others cannot be matched, and the request stays without its answer.",
    evidence: "Expected and actual id stand in the finding.",
    cure: "For the server's maintainer: copy the id as it came, with its type.",
};

pub(super) const STDOUT_NOISE: Explanation = Explanation {
    cause: "The server, or something that it starts, prints lines on stdout that are no messages: a banner, a log, a package manager's progress. Strict clients give up on the first of them.",
    evidence: "How many such lines there were, and the first of them.",
    cure: "For the server's maintainer: print on stderr. As a user, look for a `--quiet` or a log level; npx is kept quiet by the environment variable `NPM_CONFIG_LOGLEVEL=error`.",
};

pub(super) const STRAY_MESSAGE: Explanation = Explanation {
    cause: "Proper messages came that nobody had asked for: answers with an unknown id, a second answer to one request, or no JSON-RPC version in them.",
    evidence: "How many, and the first of them; the wire log shows when they came.",
    cure: "For the server's maintainer. Where a late answer follows a timeout, the limit was merely too short.",
};

pub(super) const BAD_ENCODING: Explanation = Explanation {
    cause: "Messages hold bytes that are no UTF-8, or a byte order mark: mostly a Python on a system whose locale is not UTF-8.",
    evidence: "An excerpt around the place, with the wrong bytes replaced.",
    cure: "Set `PYTHONUTF8 = \"1\"` (or a UTF-8 `LC_ALL`) in the server's `env`; for the maintainer: open stdout as UTF-8 whatever the locale is.",
};

pub(super) const SERVER_REQUEST_REFUSED: Explanation = Explanation {
    cause: "The server asked the client for something (roots, sampling, elicitation) that mcp-smoke does not offer and did not declare. It was refused at once with -32601, as the protocol has it.",
    evidence: "The method and how often it was asked stand in the finding, each request in the wire log.",
    cure: "Nothing is to be done, unless the server then fails: it should ask only for what the client declares.",
};
