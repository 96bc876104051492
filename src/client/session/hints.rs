//! What to try when a server does not answer: only what its own output and command line give away.

use crate::client::process::Command;
use crate::event::Received;

/// A hint for a handshake that timed out.
pub(super) fn init_timeout(
    command: &Command,
    received: &Received,
    stderr: &[String],
    answered_late: bool,
) -> Option<String> {
    if answered_late {
        return Some(
            "answered only after stdin was closed: its stdout is buffered; it must flush every message".to_owned(),
        );
    }
    let unfinished = received.unfinished.iter().map(String::as_str);
    let said: Vec<&str> = unfinished.chain(stderr.iter().map(String::as_str)).collect();
    if said.iter().any(|line| line.contains("Ok to proceed? (y)")) {
        return Some("npx asks before it installs (\"Ok to proceed? (y)\"): add -y to its arguments".to_owned());
    }
    if is_container_without_stdin(command) {
        return Some("the container's stdin is not connected: add -i after run".to_owned());
    }
    if let Some(line) = stderr.iter().rev().find(|line| reads_like_installing(line)) {
        return Some(format!(
            "still installing? its last such line was: {line}; raise startup_timeout or install it first"
        ));
    }
    let is_silent = received.bytes == 0 && said.is_empty();
    let is_runner = ["npx", "npm", "uvx", "uv", "pipx", "bunx"].contains(&program_name(command).as_str());
    match (is_silent, is_runner) {
        (true, true) => {
            let program = program_name(command);
            Some(format!(
                "nothing on stdout or stderr; {program} may still be installing: raise startup_timeout"
            ))
        }
        // That it wrote nothing stands in the message already, and there is no cure to name.
        (true, false) | (false, _) => None,
    }
}

/// The line by which npx or uvx says that it fetched something.
pub(super) fn download_line(stderr: &[String]) -> Option<String> {
    let is_download = |line: &&String| {
        let line = line.trim_start();
        let is_uv = (line.starts_with("Installed ") && line.contains(" package")) || line.starts_with("Downloading ");
        is_uv || (line.contains("exec The following package") && line.contains("will be installed"))
    };
    stderr.iter().find(is_download).cloned()
}

fn is_container_without_stdin(command: &Command) -> bool {
    if !["docker", "podman"].contains(&program_name(command).as_str()) {
        return false;
    }
    let mut words = command.args.iter().map(String::as_str);
    let is_interactive =
        |word: &str| word == "--interactive" || word.starts_with("--interactive=") || is_short_flag_with_i(word);
    words.any(|word| word == "run") && !words.any(is_interactive)
}

/// `-i`, `-it`.
fn is_short_flag_with_i(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|flags| !flags.starts_with('-') && flags.len() <= 3 && flags.contains('i'))
}

fn program_name(command: &Command) -> String {
    command
        .program
        .file_stem()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn reads_like_installing(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let starts = [
        "downloading",
        "installing",
        "building",
        "resolving",
        "preparing",
        "fetching",
        "pulling",
        "unpacking",
    ];
    let parts = [
        "npm http",
        "npm warn deprecated",
        "pulling from",
        "pull complete",
        "reify:",
        "idealtree",
    ];
    starts.iter().any(|start| line.starts_with(start)) || parts.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(program: &str, args: &[&str]) -> Command {
        Command {
            program: program.into(),
            args: args.iter().map(ToString::to_string).collect(),
            env: Vec::new(),
            cwd: "/".into(),
            owner: None,
        }
    }

    fn hint(command: &Command, unfinished: Option<&str>, stderr: &[&str]) -> Option<String> {
        let received = Received {
            bytes: 9,
            unfinished: unfinished.map(str::to_owned),
            ..Received::default()
        };
        let stderr: Vec<String> = stderr.iter().map(ToString::to_string).collect();
        init_timeout(command, &received, &stderr, false)
    }

    #[test]
    fn the_cure_is_named_where_it_is_known() {
        let prompt = hint(&command("/usr/bin/npx", &["x"]), Some("Ok to proceed? (y) "), &[]);
        assert!(prompt.expect("a hint").contains("add -y"));
        let docker = hint(&command("docker", &["run", "--rm", "image"]), None, &[]);
        assert!(docker.expect("a hint").contains("-i"));
        assert_eq!(hint(&command("docker", &["run", "-it", "image"]), None, &[]), None);
        let installing = hint(&command("uvx", &["x"]), None, &["Downloading numpy (16MiB)", "  "]);
        assert!(installing.expect("a hint").starts_with("still installing?"));
        assert_eq!(hint(&command("node", &["x"]), None, &["ready"]), None);
        let silent = init_timeout(&command("node", &["x"]), &Received::default(), &[], false);
        assert_eq!(silent, None, "the message says that it wrote nothing");
        let late = init_timeout(&command("node", &[]), &Received::default(), &[], true);
        assert!(late.expect("a hint").contains("buffered"));
    }

    #[test]
    fn a_download_is_told_by_its_own_line() {
        let line = |text: &str| download_line(&[text.to_owned()]);
        assert!(line("Installed 23 packages in 10ms").is_some());
        assert!(line("npm warn exec The following package was not found and will be installed: x@1").is_some());
        assert!(line("Server ready, 3 packages").is_none());
    }
}
