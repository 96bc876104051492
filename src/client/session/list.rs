//! Reads `tools/list` page by page until its end, a repeated cursor or a limit.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Map, Value};

use super::answer::Ended;
use super::conversation::Conversation;
use crate::client::protocol::{Dialect, Listed, NextCursor, RpcError, list_page, list_params};

/// More pages than any server needs; what comes after them is not read.
const MOST_PAGES: u32 = 500;
/// More tools than any host shows to a model.
const MOST_TOOLS: usize = 10_000;

/// What was read.
#[derive(Debug)]
pub(super) struct ListRead {
    /// Per page.
    pub(super) pages: Vec<Vec<Listed>>,
    /// What was wrong with the pages.
    pub(super) problems: Vec<String>,
    /// How the reading ended.
    pub(super) end: ListEnd,
    /// Just before the first write; null if nothing was written.
    pub(super) wrote: Option<Instant>,
    /// When the last page was read.
    pub(super) last: Option<Instant>,
}

/// How the reading ended.
#[derive(Debug)]
pub(super) enum ListEnd {
    /// There are no more pages.
    Complete,
    /// This cursor came again.
    Loop(String),
    /// There are more pages or tools than we read.
    TooLong,
    /// A page was refused.
    Refused(RpcError),
    /// A page was no page.
    Unreadable(String),
    /// A page was not answered.
    Unanswered(Ended),
}

/// What the pages are asked with.
pub(super) struct ListQuery<'a> {
    pub(super) dialect: Dialect,
    pub(super) meta: &'a Map<String, Value>,
    pub(super) deadline: Instant,
}

pub(super) async fn read_list(conversation: &mut Conversation, query: ListQuery<'_>) -> ListRead {
    let mut read = ListRead {
        pages: Vec::new(),
        problems: Vec::new(),
        end: ListEnd::Complete,
        wrote: None,
        last: None,
    };
    let mut cursors = BTreeSet::new();
    let mut cursor = None;
    loop {
        let params = list_params(query.meta, cursor.as_deref());
        let exchange = conversation.request("tools/list", &params, query.deadline).await;
        read.wrote = read.wrote.or(exchange.wrote);
        let answer = match exchange.ended {
            Ended::Answered(answer) => answer,
            ended => {
                read.end = ListEnd::Unanswered(ended);
                return read;
            }
        };
        read.last = Some(answer.at);
        read.problems.extend(answer.problem);
        let page = match answer.outcome.map(|result| list_page(&result, query.dialect)) {
            Ok(Ok(page)) => page,
            Ok(Err(problem)) => {
                read.end = ListEnd::Unreadable(problem);
                return read;
            }
            Err(error) => {
                read.end = ListEnd::Refused(error);
                return read;
            }
        };
        for problem in page.problems {
            if !read.problems.contains(&problem) {
                read.problems.push(problem);
            }
        }
        let brought_new = read.take_page(page.tools);
        match read.next(&mut cursors, cursor.as_deref(), page.next, brought_new) {
            Some(next) => cursor = Some(next),
            None => return read,
        }
    }
}

impl ListRead {
    /// Keeps a page; whether it holds a tool that was not there yet.
    fn take_page(&mut self, tools: Vec<Listed>) -> bool {
        let known: BTreeSet<&str> = self.pages.iter().flatten().map(|tool| tool.name.as_str()).collect();
        let brought_new = tools.iter().any(|tool| !known.contains(tool.name.as_str()));
        self.pages.push(tools);
        brought_new
    }

    /// The cursor to go on with.
    fn next(
        &mut self,
        cursors: &mut BTreeSet<String>,
        followed: Option<&str>,
        next: NextCursor,
        brought_new: bool,
    ) -> Option<String> {
        let NextCursor::At(next) = next else {
            return None;
        };
        // An empty cursor is a valid one (the TypeScript client follows it), but from some servers it
        // means the end: it is followed once.
        if followed == Some("") && !brought_new {
            self.problems
                .push("the last page gives an empty `nextCursor` instead of leaving it out".to_owned());
            return None;
        }
        if !cursors.insert(next.clone()) {
            if next.is_empty() {
                self.problems.push("an empty `nextCursor` came twice".to_owned());
            } else {
                self.end = ListEnd::Loop(next);
            }
            return None;
        }
        let tools: usize = self.pages.iter().map(Vec::len).sum();
        if self.pages.len() as u32 >= MOST_PAGES || tools >= MOST_TOOLS {
            self.end = ListEnd::TooLong;
            return None;
        }
        Some(next)
    }

    /// The tools without repetitions, in their order, and how often each repeated one was listed. Pages
    /// of a loop repeat all they hold; only what is repeated within one of them counts then.
    pub(super) fn distinct(&self) -> (Vec<&Listed>, Vec<(String, usize)>) {
        let mut tools: Vec<&Listed> = Vec::new();
        let mut seen = BTreeSet::new();
        for tool in self.pages.iter().flatten() {
            if seen.insert(tool.name.as_str()) {
                tools.push(tool);
            }
        }
        let repeats_pages =
            matches!(self.end, ListEnd::Loop(_)) || self.problems.iter().any(|p| p.contains("`nextCursor`"));
        let times = |name: &str| {
            let in_page = |page: &Vec<Listed>| page.iter().filter(|tool| tool.name == name).count();
            let counts = self.pages.iter().map(in_page);
            if repeats_pages {
                counts.max().unwrap_or_default()
            } else {
                counts.sum()
            }
        };
        let counted = tools.iter().map(|tool| (tool.name.clone(), times(&tool.name)));
        let repeated = counted.filter(|(_, times)| *times > 1).collect();
        (tools, repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Listed {
        let page = serde_json::json!({ "tools": [{ "name": name, "inputSchema": { "type": "object" } }] });
        list_page(&page, Dialect::Legacy).expect("a page").tools.remove(0)
    }

    /// Pages with their cursors as a server gives them, one after the other: the cursors followed and how it ends.
    fn check(pages: &[(&[&str], Option<&str>)]) -> (Vec<String>, ListRead) {
        let mut read = ListRead {
            pages: Vec::new(),
            problems: Vec::new(),
            end: ListEnd::Complete,
            wrote: None,
            last: None,
        };
        let mut cursors = BTreeSet::new();
        let mut followed: Vec<String> = Vec::new();
        for (names, next) in pages {
            let brought_new = read.take_page(names.iter().map(|name| tool(name)).collect());
            let next = next.map_or(NextCursor::None, |next| NextCursor::At(next.to_owned()));
            let last = followed.last().cloned();
            match read.next(&mut cursors, last.as_deref(), next, brought_new) {
                Some(next) => followed.push(next),
                None => break,
            }
        }
        (followed, read)
    }

    #[test]
    fn pages_are_followed_to_their_end() {
        let (followed, read) = check(&[(&["a"], Some("1")), (&["b"], Some("2")), (&["c"], None)]);
        assert_eq!(followed, ["1", "2"]);
        assert!(matches!(read.end, ListEnd::Complete));
        assert!(read.problems.is_empty());
    }

    #[test]
    fn a_repeated_cursor_is_a_loop_and_its_tools_are_counted_once() {
        let (followed, read) = check(&[
            (&["a", "b"], Some("x")),
            (&["a", "b"], Some("x")),
            (&["a", "b"], Some("x")),
        ]);
        assert_eq!(followed, ["x"]);
        assert!(matches!(&read.end, ListEnd::Loop(cursor) if cursor == "x"));
        let (tools, repeated) = read.distinct();
        assert_eq!((tools.len(), repeated.len()), (2, 0));
        let (_, longer) = check(&[(&["a"], Some("x")), (&["b"], Some("y")), (&["c"], Some("x"))]);
        assert!(matches!(longer.end, ListEnd::Loop(_)), "a loop over two pages");
    }

    #[test]
    fn an_empty_cursor_is_followed_once() {
        let (followed, read) = check(&[(&["a"], Some("")), (&["a"], Some(""))]);
        assert_eq!(followed, [""]);
        assert!(matches!(read.end, ListEnd::Complete));
        assert_eq!(read.problems.len(), 1);
        assert!(read.distinct().1.is_empty());
        let (followed, read) = check(&[(&["a"], Some("")), (&["b"], None)]);
        assert_eq!((followed.len(), read.problems.len()), (1, 0), "a valid cursor");
        let (_, read) = check(&[(&["a"], Some("")), (&["b"], Some("")), (&["c"], None)]);
        assert_eq!(read.problems, ["an empty `nextCursor` came twice"]);
    }

    #[test]
    fn endless_pages_are_given_up() {
        let names: Vec<String> = (0..2 * MOST_PAGES).map(|number| number.to_string()).collect();
        let names: Vec<[&str; 1]> = names.iter().map(|name| [name.as_str()]).collect();
        let pages: Vec<(&[&str], Option<&str>)> = names.iter().map(|name| (&name[..], Some(name[0]))).collect();
        let (_, read) = check(&pages);
        assert!(matches!(read.end, ListEnd::TooLong));
        assert_eq!(read.pages.len(), MOST_PAGES as usize);
    }

    #[test]
    fn a_tool_that_is_listed_twice_is_counted() {
        let (_, read) = check(&[(&["a", "b", "a"], Some("1")), (&["a"], None)]);
        let (tools, repeated) = read.distinct();
        assert_eq!(tools.len(), 2);
        assert_eq!(repeated, [("a".to_owned(), 3)]);
    }
}
