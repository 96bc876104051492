//! Explanations of what speaks of versions and tools: it works, but is not what it was or should be.

use super::Explanation;

pub(super) const RUNTIME_MISMATCH: Explanation = Explanation {
    cause: "The executable that really ran the server does not fit the row's runtime: a wrapper, a shim or an absolute path in the command chose another Node or Python.",
    evidence: "Expected is the runtime's range, actual is what the executable of the running process says of itself; its path is in the record.",
    cure: "Start the server by its name instead of a path, and without a version manager in between; the runtime's folder comes first on the row's PATH.",
};

pub(super) const NAME_CHANGED: Explanation = Explanation {
    cause: "The server reports another name than expected, than accepted in the lock, or than before: another package runs, or upstream renamed it. Clients that key their permissions by name ask again.",
    evidence: "Both names; the package that answered stands beside them in the record.",
    cure: "If another package runs, correct the row. If upstream renamed it, correct `expect.name` or accept it with `mcp-smoke lock ROW`.",
};

pub(super) const VERSION_MISMATCH: Explanation = Explanation {
    cause: "What was reported or installed lies outside the range that the manifest expects.",
    evidence: "Expected is the range of `expect.version` or `expect.package_version`, actual is the version that was there.",
    cure: "Install one that fits (`--install update`), or change the range once you have decided that the version is right.",
};

pub(super) const VERSION_DOWNGRADE: Explanation = Explanation {
    cause: "The server is older than what was accepted in the lock, or than in the last complete run. A new runtime that the newest version does not support, a stale cache, a withdrawn release or a pin are the usual causes.",
    evidence: "Both versions, which of lock and last run is meant, and the cause where `held-back` has proved one. A lower version that the manifest itself asks for only warns.",
    cure: "Undo the cause that is named (mostly: a newer Node or Python for that row). If the old version is meant to stay, accept it with `mcp-smoke lock ROW`.",
};

pub(super) const VERSION_UNVERIFIABLE: Explanation = Explanation {
    cause: "The manifest expects a version, but the server reports none or an empty one, or no package could be found behind the process, so that nothing can be said.",
    evidence: "Which expectation it is, and what was found instead.",
    cure: "Expect the installed version by `expect.package_version` rather than the reported one; for a server that no package owns, take the expectation out.",
};

pub(super) const HELD_BACK: Explanation = Explanation {
    cause: "A fresh install of what the row wants, on this runtime, would still not give the newest version: npm and pip quietly take an older one that supports the runtime (`engines`, `requires-python`), or one that is not deprecated. A date limit of your own (`before`, `min-release-age`, `exclude-newer`) makes it a note.",
    evidence: "Both versions, the range that the newest asks for, and the runtime that ran; all of it is in the record under `identity.package`.",
    cure: "Give the row a runtime in that range. Where the old runtime has to stay, `mcp-smoke lock ROW` accepts this cause, and it stays quiet whatever is released next.",
};

pub(super) const TOOL_REMOVED: Explanation = Explanation {
    cause: "Tools that were accepted in the lock, were there in the last complete run, or are expected by the manifest, are not listed any more.",
    evidence: "The tools by name, and against what they were held; a `version-downgrade` or `held-back` beside it is usually the reason.",
    cure: "If an older version runs, cure that. If upstream removed them, change what calls them, then accept it with `mcp-smoke lock ROW`.",
};

pub(super) const TOOL_COUNT_CHANGED: Explanation = Explanation {
    cause: "The number of tools is not the `tool_count` that the manifest expects.",
    evidence: "Expected and actual number; the names are in the record.",
    cure: "See by `mcp-smoke diff` which tools came or went, then correct `expect.tool_count`, or expect names by `expect.tools`, which says more.",
};

pub(super) const TOOL_SCHEMA_CHANGED: Explanation = Explanation {
    cause: "A tool asks for more or gives less than before: a new required argument, an argument that is gone, another type, an output that is gone. Calls that worked yesterday can fail.",
    evidence: "The tool, and each argument or output that was narrowed.",
    cure: "Change the callers and the probe's `arguments`, then accept the new shape with `mcp-smoke lock ROW`; or pin the earlier version in `package`.",
};

pub(super) const VERSION_SPLIT: Explanation = Explanation {
    cause: "One package runs in different versions, or with other tools, under two runtimes: the older row's users do not get what the others have, without a word from npm or pip.",
    evidence: "Both rows with their versions, and the differences tool by tool; `held-back` on the older row tells why.",
    cure: "Cure the older row's `held-back`, or update it with `--install update`. A split that has to stay is accepted with `mcp-smoke lock`.",
};

pub(super) const VERSION_CHANGED: Explanation = Explanation {
    cause: "The version is another one, and neither can be called the higher (no order between them), or the reported one fell while the installed one did not.",
    evidence: "Both versions, and against what they were held.",
    cure: "See in the package's changes what it is, then accept it with `mcp-smoke lock ROW`.",
};

pub(super) const RUNTIME_CHANGED: Explanation = Explanation {
    cause: "The row ran on another Node or Python than accepted or than in the last complete run: the machine was updated, or another one comes first on PATH.",
    evidence: "Both versions of the runtime, and the executable in the record.",
    cure: "If it was meant, accept it with `mcp-smoke lock ROW`; else name the wanted range under `[runtimes]`. Times across the change are not compared.",
};

pub(super) const TOOL_REWORDED: Explanation = Explanation {
    cause: "A tool's description has changed and nothing else of it. Models choose tools by their descriptions, so that behaviour can change, and a description is also a way to slip instructions in. Beside an upgrade it is a note.",
    evidence: "The tools by name; lock and record keep a hash of each description, not its text.",
    cure: "Read the new description, then accept it with `mcp-smoke lock ROW`.",
};

pub(super) const TOOL_DRIFT: Explanation = Explanation {
    cause: "A tool's schema or annotations changed in a way that breaks no call, or a tool changed although the version did not. The second means that tools come from somewhere else than the package.",
    evidence: "The tools and what of them has changed, with the version that stayed.",
    cure: "Look at the change and accept it with `mcp-smoke lock ROW`. For a server whose tools always change, set `tool-drift` in its `severity`.",
};

pub(super) const NOT_IN_LOCK: Explanation = Explanation {
    cause: "There is a lock, and this row is not in it: nobody has accepted yet what it runs.",
    evidence: "The row's name; under `--locked` such a row fails.",
    cure: "Look at the row's first result, then take it in with `mcp-smoke lock ROW`.",
};

pub(super) const VERSION_UPGRADED: Explanation = Explanation {
    cause: "The server is newer than what was accepted or than in the last complete run. That is what updating is for, and only noted.",
    evidence: "Both versions, and whether lock or last run is meant.",
    cure: "Nothing is to be done; `mcp-smoke lock ROW` makes the new version the measure, so that a fall back to the old one is noticed.",
};

pub(super) const TOOL_ADDED: Explanation = Explanation {
    cause: "The server lists tools that it did not list before.",
    evidence: "The new tools by name, and against what they were held.",
    cure: "See whether your clients should be allowed to call them; `mcp-smoke lock ROW` takes them in.",
};

pub(super) const BEHIND_NEWEST: Explanation = Explanation {
    cause: "A newer version could be installed on this runtime and is not: it was simply not updated, or an old npx or uvx folder, an installed `uv tool`, a global or a parent folder's installation comes first.",
    evidence: "Both versions, and the cause with its folder where one is known.",
    cure: "`mcp-smoke run --install update` for rows with a `package`; for the others clear what the finding names.",
};

pub(super) const NEWEST_UNKNOWN: Explanation = Explanation {
    cause: "The package's registry was asked what it offers and gave no answer that could be used, and no earlier answer is kept. So nobody can say whether the row is held back; what was accepted of that stays accepted.",
    evidence: "What the package manager said, or the limit that ran out.",
    cure: "See that the registry answers, as it would have to for an installation; the next run asks again.",
};

pub(super) const REPORTED_VERSION_STALE: Explanation = Explanation {
    cause: "The version that the server reports stayed while its package changed: it is written into the code and was forgotten. Nobody can tell by it what runs.",
    evidence: "The reported version beside the installed ones, then and now.",
    cure: "For the server's maintainer: read the version from the package. Until then trust the Installed column, and expect by `expect.package_version`.",
};
