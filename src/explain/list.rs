//! Explanations of what goes wrong with `tools/list`.

use super::Explanation;

pub(super) const LIST_ERROR: Explanation = Explanation {
    cause: "The server answered `tools/list` with a JSON-RPC error: often a schema that it cannot turn into JSON, or a service behind it that does not answer.",
    evidence: "Code and message of the error stand in the finding; stderr around that time is in the row's log.",
    cure: "Mend what the message names; -32601 means that the server has no tools at all and should not be probed for them.",
};

pub(super) const LIST_TIMEOUT: Explanation = Explanation {
    cause: "The list of tools was not complete within `list_timeout`, all its pages together. Servers that gather their tools from elsewhere first are the usual case.",
    evidence: "The finding says what had come by then; the wire log shows which page was waited for.",
    cure: "Raise `list_timeout` of that server if it is merely slow; else see on stderr what it waits for.",
};

pub(super) const LIST_TOO_LONG: Explanation = Explanation {
    cause: "The list has more pages or tools than a client can be asked to read; the server probably makes up a new cursor each time.",
    evidence: "How many pages and tools were read before reading stopped; the cursors are in the wire log.",
    cure: "For the server's maintainer: the last page must have no `nextCursor`. A server that really has thousands of tools wants a flag that selects some.",
};

pub(super) const PAGINATION_LOOP: Explanation = Explanation {
    cause: "The server gave a cursor that it had given before, so that a client which follows it never ends.",
    evidence: "The repeated cursor, and how many distinct tools had been read.",
    cure: "For the server's maintainer: leave `nextCursor` out on the last page, and honour the cursor that the client sends.",
};

pub(super) const LIST_INVALID: Explanation = Explanation {
    cause: "The answer to `tools/list` is no proper result, for instance `tools` is missing or no list, or an empty cursor leads nowhere. What could be read of it was kept.",
    evidence: "The part that is wrong is named; the answer is in the wire log.",
    cure: "For the server's maintainer: report it with that line; most clients show an empty or shortened list without a word.",
};

pub(super) const TOOL_INVALID: Explanation = Explanation {
    cause: "A tool's entry in the list is not as the protocol wants it: no name, no `inputSchema`, a schema that is none, or one whose type is not `object`. Some clients then drop the tool, some the whole list.",
    evidence: "The tools and what is wrong with them are named in the finding.",
    cure: "For the server's maintainer: correct the schema. As a user, see whether your client shows these tools.",
};

pub(super) const TOOL_DUPLICATE: Explanation = Explanation {
    cause: "Two tools of the list have one name; which of them a call reaches is the server's secret.",
    evidence: "The name, and how often it is listed; the entries themselves are in the record.",
    cure: "For the server's maintainer. Where the server merges several sources, prefix their tools or switch one source off.",
};

pub(super) const NO_TOOLS: Explanation = Explanation {
    cause: "The list is empty. A server that declares tools and lists none has usually not got what it needs to offer them: a key, a project, a connection.",
    evidence: "Whether the handshake declared tools stands in the finding; the list was read a second time before it was called empty.",
    cure: "Give it what it waits for (its stderr often tells). A server that has only resources or prompts is settled by `no-tools = \"ignore\"` in its `severity`.",
};

pub(super) const TOOL_MISSING: Explanation = Explanation {
    cause: "A probe calls a tool that the server does not list: it was renamed or removed, or needs a flag or key to appear. The call was not made.",
    evidence: "The tool, how many others are listed, and the name that is nearest to it.",
    cure: "Correct the probe's `tool`, or give the server what makes the tool appear; `tool-removed` beside it says that it was there before.",
};
