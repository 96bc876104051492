//! Explanations of how a server or a row goes down, and of rows that cannot make up their mind.

use super::Explanation;

pub(super) const SERVER_DIED: Explanation = Explanation {
    cause: "The process ended after the handshake, while something was still asked of it: an exception that nobody caught, a crash in native code, or the system ending it for want of memory.",
    evidence: "Exit code or signal, during which phase, and the line on stderr that tells most.",
    cure: "The last call in the wire log is the one that brought it down: report it with the stack from the row's log.",
};

pub(super) const ROW_TIMEOUT: Explanation = Explanation {
    cause: "All sessions of the row together took longer than `row_timeout`; what was left of it was not run. What was measured until then stands.",
    evidence: "The limit is in the finding; the log shows where the time went.",
    cure: "Raise `row_timeout` of that server, or lower its `calls`, `repeats` or `cold_starts`.",
};

pub(super) const UNCLEAN_SHUTDOWN: Explanation = Explanation {
    cause: "When its stdin was closed, the server did not end within `shutdown_grace`, or left processes behind: signals had to end them. With a desktop client such servers pile up.",
    evidence: "Which signal it took, and the command lines of what was left; `shutdown_ms` is how long it needed.",
    cure: "For the server's maintainer: end when stdin ends, and take your children with you. A server that has much to put away gets a longer `shutdown_grace`.",
};

pub(super) const LEFT_OVER: Explanation = Explanation {
    cause: "Either a process of this row could not be ended: it belongs to somebody else, or hangs in the kernel. Or an earlier run of the same manifest was killed (SIGKILL, no memory left, the limit of a scheduler), so that it could not end its servers; what it left of this row was looked for before the first session and ended, on Linux only. Servers of a run that still goes on are not touched.",
    evidence: "Pid and command line are named in the finding, which says whether they could be ended; those of a session's own are in its `left_over`, too.",
    cure: "What could not be ended is ended by hand: it may hold a port, a lock or memory that the next run needs. Stop a run with Ctrl-C or SIGTERM, which let it take its servers along.",
};

pub(super) const INTERRUPTED: Explanation = Explanation {
    cause: "Ctrl-C, or an end of the run, came while the row was being measured. What it had shown until then is kept and judged; later runs do not compare themselves with it.",
    evidence: "The run's exit code is 130, and the report says that it was interrupted.",
    cure: "Run the row again and let it end: `mcp-smoke run ROW`.",
};

pub(super) const FLAKY: Explanation = Explanation {
    cause: "The row passes and fails although nothing about it has changed: it failed and then passed on a retry in this run, or it passed and failed on earlier nights with the same package, runtime and reported version. Races at the start, services behind it and tight limits are the usual causes.",
    evidence: "Which try passed, or how many of the last nights failed and when; the failed try's reason stands in the finding, and its session in the row's log.",
    cure: "A pass that needs luck is no pass: look at what the failing nights have in common in `mcp-smoke history ROW`. A limit that is too tight is raised; else it is for the server's maintainer.",
};
