//! The list of tools of a session: read, looked through, and read once more where it may have been early.

use std::time::{Duration, Instant};

use super::Session;
use super::answer::Ended;
use super::conversation::Conversation;
use super::list::{ListEnd, ListQuery, ListRead, read_list};
use super::schema;
use super::wording::excerpt;
use crate::client::protocol::{Dialect, Listed, METHOD_NOT_FOUND};
use crate::client::transport::LONGEST_LINE;
use crate::event::{Seen, ToolFacts};
use crate::finding::Phase;

/// How long an empty list of a server that declares tools may take to fill (most fill at once).
const FILLING: Duration = Duration::from_secs(1);
/// The limit of the second reading; it is not part of any figure.
const AGAIN_LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn list_tools(session: &mut Session) {
    let Some(mut read) = read(session, session.spec.limits.list).await else {
        return;
    };
    let is_whole = matches!(read.end, ListEnd::Complete);
    session.facts.list = span(&read).filter(|_| is_whole);
    let is_empty = read.pages.iter().all(Vec::is_empty);
    if is_whole && (list_changed(session) || (is_empty && session.declares_tools)) {
        if is_empty && let Some(conversation) = &mut session.conversation {
            conversation.listen_for_list_change(Instant::now() + FILLING).await;
        }
        if let Some(again) = list_again(session).await {
            read = again;
        }
    }
    conclude(session, read).await;
    if let Some(conversation) = &mut session.conversation {
        conversation.look();
    }
}

/// Reads the list once more if the server has said since that it changed.
pub(super) async fn list_again_if_changed(session: &mut Session) {
    let can_list = session.facts.tools.is_some() && !session.listed_again;
    if !can_list || session.stop.is_due() || !session.is_open() {
        return;
    }
    if let Some(conversation) = &mut session.conversation {
        conversation.take_backlog(None).await;
    }
    if list_changed(session)
        && let Some(read) = list_again(session).await
    {
        conclude(session, read).await;
    }
}

fn list_changed(session: &mut Session) -> bool {
    session
        .conversation
        .as_mut()
        .is_some_and(Conversation::take_list_changed)
}

/// Null if it could not be read to its end; the first reading stands then.
async fn list_again(session: &mut Session) -> Option<ListRead> {
    if session.listed_again || !session.is_open() {
        return None;
    }
    session.listed_again = true;
    let limit = session.spec.limits.list.min(AGAIN_LIMIT);
    let read = read(session, limit).await?;
    let is_whole = matches!(read.end, ListEnd::Complete);
    if let Some(conversation) = &session.conversation {
        let words = if is_whole {
            "the list of tools was read again"
        } else {
            "the list could not be read again"
        };
        conversation.note(words);
    }
    is_whole.then_some(read)
}

async fn read(session: &mut Session, limit: Duration) -> Option<ListRead> {
    let (dialect, meta) = (session.dialect, &session.meta);
    let conversation = session
        .conversation
        .as_mut()
        .filter(|conversation| conversation.is_usable())?;
    conversation.set_phase(Phase::List);
    // What came before this list was asked for says nothing about it.
    conversation.take_backlog(None).await;
    conversation.take_list_changed();
    let query = ListQuery {
        dialect,
        meta,
        deadline: Instant::now() + limit,
    };
    let read = read_list(conversation, query).await;
    conversation.hand_over_wire();
    Some(read)
}

fn span(read: &ListRead) -> Option<Duration> {
    Some(read.last?.saturating_duration_since(read.wrote?))
}

/// Turns a reading into facts and observations.
async fn conclude(session: &mut Session, read: ListRead) {
    let (tools, repeated) = read.distinct();
    let (tools, count) = (tools.into_iter().cloned().collect::<Vec<_>>(), read.pages.len());
    for problem in &read.problems {
        session.observe(
            Phase::List,
            None,
            Seen::ListInvalid {
                problem: problem.clone(),
            },
        );
    }
    let (was_read, is_whole) = match read.end {
        ListEnd::Complete => (true, true),
        ListEnd::Loop(cursor) => {
            session.observe(
                Phase::List,
                None,
                Seen::PaginationLoop {
                    cursor: excerpt(&cursor),
                    tools: tools.len(),
                },
            );
            // A cursor that comes again brings nothing else.
            (true, true)
        }
        ListEnd::TooLong => {
            let seen = Seen::ListTooLong {
                pages: count as u32,
                tools: tools.len(),
            };
            session.observe(Phase::List, None, seen);
            (true, false)
        }
        ListEnd::Refused(error) if error.code == METHOD_NOT_FOUND && !session.declares_tools => (true, true),
        ListEnd::Refused(error) => {
            let seen = Seen::ListError {
                code: error.code,
                message: excerpt(&error.message),
            };
            session.observe(Phase::List, None, seen);
            (false, false)
        }
        ListEnd::Unreadable(problem) => {
            session.observe(Phase::List, None, Seen::ListInvalid { problem });
            (false, false)
        }
        ListEnd::Unanswered(ended) => {
            unanswered(session, ended).await;
            (false, false)
        }
    };
    if was_read {
        keep(session, &tools, &repeated, is_whole);
    }
}

async fn unanswered(session: &mut Session, ended: Ended) {
    let seen = match ended {
        Ended::TimedOut(received) => {
            if let Some(conversation) = &mut session.conversation {
                conversation.cancel_last().await;
            }
            Seen::ListTimeout {
                limit: session.spec.limits.list,
                received,
            }
        }
        Ended::Gone(ending) => Seen::ServerDied { ending },
        Ended::Framing { looks_like, excerpt } => {
            if let Some(conversation) = &mut session.conversation {
                conversation.forget_noise(Phase::List);
            }
            Seen::BadFraming { looks_like, excerpt }
        }
        Ended::ForeignId { expected, actual } => Seen::IdMismatch {
            expected,
            actual,
            tolerated: false,
        },
        Ended::Unreadable { problem } => Seen::ListInvalid { problem },
        Ended::TooLong => Seen::OutputLimit {
            limit: LONGEST_LINE as u64,
        },
        Ended::Stopped | Ended::Answered(_) => return,
    };
    session.observe(Phase::List, None, seen);
}

/// Keeps the tools, and says what is wrong with them.
fn keep(session: &mut Session, tools: &[Listed], repeated: &[(String, usize)], is_whole: bool) {
    // A second reading replaces what the first one said about the tools.
    let about_tools = |what: &Seen| {
        matches!(
            what,
            Seen::ToolInvalid { .. } | Seen::ToolDuplicate { .. } | Seen::NoTools { .. }
        )
    };
    session
        .facts
        .observations
        .retain(|observation| !about_tools(&observation.what));
    for (tool, times) in repeated {
        session.observe(
            Phase::List,
            None,
            Seen::ToolDuplicate {
                tool: tool.clone(),
                times: *times,
            },
        );
    }
    for tool in tools {
        let problems = problems(tool, session.dialect);
        if !problems.is_empty() {
            let seen = Seen::ToolInvalid {
                tool: excerpt(&tool.name),
                problem: problems.join("; "),
            };
            session.observe(Phase::List, None, seen);
        }
    }
    match (tools.is_empty(), session.declares_tools) {
        (true, declared) => session.observe(Phase::List, None, Seen::NoTools { declared }),
        (false, true) => {}
        (false, false) => {
            let problem = "tools are listed, but the capability `tools` is not declared".to_owned();
            session.observe(Phase::List, None, Seen::ListInvalid { problem });
        }
    }
    session.list_complete = is_whole;
    session.task_only = tools
        .iter()
        .filter(|tool| tool.task_only)
        .map(|tool| tool.name.clone())
        .collect();
    let schemas = tools
        .iter()
        .filter_map(|tool| Some((tool.name.clone(), tool.output_schema.clone()?)));
    session.output_schemas = schemas.collect();
    session.facts.tools = Some(tools.iter().map(tool_facts).collect());
    if let Some(conversation) = &session.conversation {
        let plural = if tools.len() == 1 { "" } else { "s" };
        conversation.note(format!("{} tool{plural} listed", tools.len()));
    }
}

fn problems(tool: &Listed, dialect: Dialect) -> Vec<String> {
    let mut problems = tool.problems.clone();
    // A schema of the wrong kind is told already.
    let input = tool.input_schema.as_ref().filter(|schema| schema.is_object());
    problems.extend(
        input
            .and_then(schema::problem)
            .map(|problem| format!("`inputSchema`: {problem}")),
    );
    let output = tool
        .output_schema
        .as_ref()
        .filter(|schema| schema.is_object() || dialect == Dialect::Modern);
    problems.extend(
        output
            .and_then(schema::problem)
            .map(|problem| format!("`outputSchema`: {problem}")),
    );
    problems
}

fn tool_facts(tool: &Listed) -> ToolFacts {
    ToolFacts {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        annotations: tool.annotations.clone(),
    }
}
