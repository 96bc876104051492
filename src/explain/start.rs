//! Explanations of what goes wrong before a server has answered.

use super::Explanation;

pub(super) const SPAWN_FAILED: Explanation = Explanation {
    cause: "The system did not start the command: there is no such program on the row's PATH, it may not be executed, its interpreter or its working folder is missing, or a whole command line stands in `command`.",
    evidence: "The finding quotes the program and the system's own words; the row's log opens with the command line, the folder and the names of the environment's variables.",
    cure: "Put the program's name into `command` and the rest into `args`; give the row a `package`, so that its programs are found there first; `mcp-smoke check` tells without starting anything.",
};

pub(super) const EXITED_EARLY: Explanation = Explanation {
    cause: "The process ended before it answered the handshake: usually a missing key or argument, a runtime too old for the code, a module that is not installed, or too little memory (SIGKILL, 137).",
    evidence: "Exit code or signal, and the line on stderr that tells most; all of stderr, with times, is in the row's log.",
    cure: "Read the quoted line first. Pass what it misses by `args`, `env` or `env_file`, or choose another runtime; starting the logged command by hand shows the same.",
};

pub(super) const INIT_TIMEOUT: Explanation = Explanation {
    cause: "The process lives but gave no complete answer to the handshake within `startup_timeout`: it still downloads or compiles, waits for a login or for a server elsewhere, speaks HTTP instead of stdio, or writes its messages without a line end.",
    evidence: "The finding says what came meanwhile: nothing, lines that are no messages, an unfinished line, the last words on stderr. The wire log has every line with its time.",
    cure: "Give it the flag for stdio or the key it waits for; where it is only slow, raise `startup_timeout` of that server.",
};

pub(super) const INIT_ERROR: Explanation = Explanation {
    cause: "The server answered the handshake with a JSON-RPC error instead of a result: it refuses the protocol revision, the client, or its own configuration.",
    evidence: "Its code and message stand in the finding; -32602 with a list of revisions means that it wants another one.",
    cure: "Set what the message names; for a revision, set `protocol` of that server.",
};

pub(super) const INVALID_INITIALIZE: Explanation = Explanation {
    cause: "The server answered the handshake, but the answer lacks what the protocol requires (such as `protocolVersion` or `capabilities`), or has it in another type. Strict clients drop such a server.",
    evidence: "The finding names the part that is wrong; the answer itself is in the row's wire log.",
    cure: "This is for the server's maintainer: report it with the line of the wire log. Until then another version of the package may do.",
};

pub(super) const PROTOCOL_VERSION: Explanation = Explanation {
    cause: "Client and server have no protocol revision in common: the server answered with one that this client does not speak.",
    evidence: "Expected is what was offered, actual is what the server answered.",
    cure: "Let the row ask for that revision by `protocol`, if it is one that mcp-smoke speaks; else update whichever of the two is older.",
};

pub(super) const INSTALL_FAILED: Explanation = Explanation {
    cause: "The package manager could not install what the row names: no such package or version, no version for this runtime, a registry out of reach, a build that failed, or no room on disk.",
    evidence: "The package manager's reason stands in the finding, its whole output in the row's log under `install`.",
    cure: "Run the logged command by hand. Correct the package's name or range, choose a runtime that it supports, or mend network and proxy; the user's own npm and pip settings apply.",
};

pub(super) const INSTALL_STALE: Explanation = Explanation {
    cause: "`--install update` could not install anew, so that the earlier installation was run instead. The figures are good, but they are not of the version that was asked for.",
    evidence: "What was installed earlier is named as actual; why the update failed stands beside it and in the log.",
    cure: "Mend what the package manager names (mostly the network) and run once more with `--install update`.",
};

pub(super) const NEEDS_AUTHORIZATION: Explanation = Explanation {
    cause: "The server wants a login before it answers: it refused the client as unauthorised, or waits for a browser that nobody will use at night.",
    evidence: "The refusal, as the server worded it, stands in the finding.",
    cure: "Give the row a token by `env`, `env_file` or `headers`, taken from the environment by `${env:NAME}`, so that it is masked everywhere.",
};

pub(super) const CONFIG_ERROR: Explanation = Explanation {
    cause: "The row's entry cannot be used as it stands: a variable of the environment is not set, a fixture could not be laid out, or a value is none that can be. The row was not started; the others were.",
    evidence: "The field of the manifest and the variable or value are named in the finding.",
    cure: "Set the variable, or give it a default by `${env:NAME:-default}`; `mcp-smoke check` shows all such entries at once.",
};

pub(super) const IDENTITY_MISSING: Explanation = Explanation {
    cause: "The handshake lacks `serverInfo.name` or `serverInfo.version`, or one of them is empty. An empty version is only a note: the official Python SDK sends one wherever the author gives none.",
    evidence: "The missing field is named; what was installed is found from the running process all the same.",
    cure: "For the server's maintainer: pass name and version to the SDK. What you expect of such a server is better said by `expect.package_version`.",
};

pub(super) const DOWNLOADED: Explanation = Explanation {
    cause: "Packages were fetched by npx or uvx while the server started, so that its cold start holds a download and is no figure of the server's own.",
    evidence: "The line on stderr that tells of the download is quoted.",
    cure: "Run once more, now that it is cached; or name the package by `package`, which installs before anything is timed.",
};

pub(super) const ROW_SKIPPED: Explanation = Explanation {
    cause: "The row was not run: disabled, a host that cannot be resolved, a program or browser that is missing, a package not installed under `--install never`, a remote server, or an interruption before its turn.",
    evidence: "The reason's word stands in the table, its sentence and the one thing that would cure it in the finding. A row that the lock names warns, since nobody would miss it otherwise.",
    cure: "Do what the hint says, for instance `--install-programs`; a row that is not wanted any more gets `enabled = false`.",
};
