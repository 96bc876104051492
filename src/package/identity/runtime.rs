//! Which interpreter runs a server, and its version as it tells it itself.
//!
//! Asked once per executable in the life of this process, outside timed phases, within a limit; an executable
//! that does not tell is no failure. It gets no input, and nothing that it starts outlives the question.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use crate::client::process::minimal_environment;
use crate::event::RuntimeFacts;

use super::place::program_name;
use super::script::{self, Kind};

/// How long an executable may take to tell its version.
const LIMIT: Duration = Duration::from_secs(5);

/// As much of its answer as is read.
const MOST_BYTES: u64 = 16 * 1024;

/// What an executable answered; nothing if it told no version.
type Answer = Arc<OnceCell<Option<String>>>;

/// One answer for each executable, by its real path.
static ANSWERS: LazyLock<Mutex<HashMap<PathBuf, Answer>>> = LazyLock::new(Mutex::default);

/// What is known of an executable; asks for its version if nobody did yet.
pub(super) async fn facts(executable: PathBuf) -> RuntimeFacts {
    let version = version_of(&executable).await;
    RuntimeFacts {
        kind: word(&executable),
        version,
        executable,
    }
}

/// `node`, `python` or the file's name.
fn word(executable: &Path) -> String {
    let name = program_name(executable);
    match script::kind(executable) {
        Kind::Node if name != "bun" => "node".to_owned(),
        Kind::Python => "python".to_owned(),
        Kind::Node | Kind::Shell | Kind::Other => name,
    }
}

async fn version_of(executable: &Path) -> Option<String> {
    let real = executable.canonicalize().ok()?;
    // A shell's answer is no use to anyone, and one that does not know the flag may take it for a script.
    if script::kind(&real) == Kind::Shell {
        return None;
    }
    let answer = {
        let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(answers.entry(real).or_default())
    };
    answer.get_or_init(|| ask(executable, LIMIT)).await.clone()
}

/// Runs `EXECUTABLE --version`.
async fn ask(executable: &Path, limit: Duration) -> Option<String> {
    let mut command = Command::new(executable);
    command
        .arg("--version")
        .env_clear()
        .envs(minimal_environment())
        .kill_on_drop(true);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().ok()?;
    let group = child.id();
    let text = tokio::time::timeout(limit, answer(&mut child)).await.ok();
    end(&mut child, group).await;
    version_in(&text?)
}

/// What it writes until both its outputs end (or enough was read), stdout first.
async fn answer(child: &mut Child) -> String {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut told, mut complained) = (Vec::new(), Vec::new());
    let read_told = async {
        if let Some(stdout) = stdout {
            // What could not be read is missing, and then there is no version in it.
            drop(stdout.take(MOST_BYTES).read_to_end(&mut told).await);
        }
    };
    let read_complained = async {
        if let Some(stderr) = stderr {
            drop(stderr.take(MOST_BYTES).read_to_end(&mut complained).await);
        }
    };
    tokio::join!(read_told, read_complained);
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&told),
        String::from_utf8_lossy(&complained)
    )
}

/// Ends whatever is left of it and its children.
async fn end(child: &mut Child, group: Option<u32>) {
    #[cfg(unix)]
    if let Some(group) = group.and_then(|group| i32::try_from(group).ok()) {
        use nix::sys::signal::{Signal, killpg};
        use nix::unistd::Pid;
        // Before it is waited for, so that the number cannot be someone else's. That nobody is left is usual.
        let _usual = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    #[cfg(not(unix))]
    drop((group, child.start_kill()));
    drop(tokio::time::timeout(LIMIT, child.wait()).await);
}

/// The first word that reads like a version, without a `v` in front: of `v20.20.2`, `Python 3.11.7`, `Docker version 27.3.1, build x`.
fn version_in(text: &str) -> Option<String> {
    text.split_whitespace().find_map(|word| {
        let bare = word.trim_start_matches(['v', 'V', '(']);
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '+' | '-' | '_');
        let end = bare.find(|letter| !allowed(letter)).unwrap_or(bare.len());
        let version = bare[..end].trim_end_matches(['.', '-', '_']);
        let dotted = version
            .split('.')
            .take(2)
            .filter(|part| part.starts_with(|first: char| first.is_ascii_digit()));
        (dotted.count() == 2).then(|| version.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_real_programs_answer() {
        let cases = [
            ("v20.20.2\n", Some("20.20.2")),
            ("Python 3.11.7\n", Some("3.11.7")),
            ("Python 3.15.0a2+\n", Some("3.15.0a2+")),
            ("Docker version 27.3.1, build ce12230\n", Some("27.3.1")),
            ("uv 0.13.9 (abc 2026-11-01)\n", Some("0.13.9")),
            (
                "Python 3.10.14 (75b3de9d, Apr 17 2026)\n[PyPy 7.3.16 with GCC]",
                Some("3.10.14"),
            ),
            ("v24.0.0-nightly20260101\n", Some("24.0.0-nightly20260101")),
            ("usage: server [--port N]\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(version_in(text).as_deref(), expected, "{text:?}");
        }
    }

    #[cfg(unix)]
    mod asking {
        use super::*;
        use std::os::unix::fs::PermissionsExt;

        fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
            let file = folder.join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            file
        }

        #[tokio::test]
        async fn an_executable_is_asked_once() {
            let folder = tempfile::tempdir().unwrap();
            let text = "#!/bin/sh\necho asked >> \"$0.count\"\necho v1.2.3\n";
            let file = program(folder.path(), "thing", text);
            for _ in 0..3 {
                let facts = facts(file.clone()).await;
                assert_eq!(
                    (facts.kind.as_str(), facts.version.as_deref()),
                    ("thing", Some("1.2.3"))
                );
            }
            let count = std::fs::read_to_string(folder.path().join("thing.count")).unwrap();
            assert_eq!(count.lines().count(), 1);
        }

        #[tokio::test]
        async fn an_executable_that_fails_or_is_gone_has_no_version() {
            let folder = tempfile::tempdir().unwrap();
            let file = program(folder.path(), "broken", "#!/bin/sh\nexit 3\n");
            assert_eq!(facts(file).await.version, None);
            assert_eq!(facts(folder.path().join("missing")).await.version, None);
        }

        #[tokio::test]
        async fn an_executable_that_never_ends_is_given_up_with_its_children() {
            let folder = tempfile::tempdir().unwrap();
            let text = "#!/bin/sh\nsleep 600 &\necho $! > \"$0.pid\"\necho v1.2.3\nsleep 600\n";
            let file = program(folder.path(), "hanging", text);
            assert_eq!(ask(&file, Duration::from_secs(2)).await, None);
            let child = std::fs::read_to_string(folder.path().join("hanging.pid")).unwrap();
            let status = format!("/proc/{}/stat", child.trim());
            let lives = || std::fs::read_to_string(&status).is_ok_and(|text| !text.contains(") Z "));
            let until = std::time::Instant::now() + Duration::from_secs(10);
            while lives() && std::time::Instant::now() < until {
                tokio::task::yield_now().await;
            }
            assert!(!lives(), "the child lives on");
        }
    }
}
