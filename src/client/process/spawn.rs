//! Starts the process and words the system's refusals. What can be seen beforehand is `program`'s.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::{Child, ChildStderr};

use super::mark::RUN_VARIABLE;
use super::program::{problem, resolve};
use super::{Command, Pipes, SpawnProblem, system};

/// How often a file that is still open for writing somewhere is tried again.
const BUSY_TRIES: u32 = 20;
/// The pause between these tries.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// How much of a script is read to find its interpreter; the kernel itself reads 256 bytes.
const FIRST_LINE_LIMIT: usize = 256;

/// A process that was just started, its pipes taken out.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) pid: u32,
    pub(super) pipes: Pipes,
    pub(super) stderr: ChildStderr,
    /// Just before the spawn.
    pub(super) at: Instant,
}

impl Spawned {
    fn new(mut child: Child, at: Instant) -> Self {
        Self {
            pid: child.id().expect("a child that was not waited for has a pid"),
            pipes: Pipes {
                stdin: child.stdin.take().expect("stdin was asked to be piped"),
                stdout: child.stdout.take().expect("stdout was asked to be piped"),
            },
            stderr: child.stderr.take().expect("stderr was asked to be piped"),
            child,
            at,
        }
    }
}

/// Starts the command in a group of its own, all three streams piped, marked with `mark`.
pub(super) fn spawn(command: &Command, mark: &str) -> Result<Spawned, SpawnProblem> {
    let path = resolve(command)?;
    let mut child = tokio::process::Command::new(&path);
    child.args(&command.args).current_dir(&command.cwd);
    child
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)));
    child.env(RUN_VARIABLE, mark);
    child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    child.kill_on_drop(true);
    system::own_group(&mut child);
    start(&mut child).map_err(|error| refusal(command, &path, &error))
}

/// A file that was written a moment ago may still be open in a process that another thread is just
/// forking; that passes by itself.
fn start(command: &mut tokio::process::Command) -> io::Result<Spawned> {
    let mut tries = 0;
    loop {
        let at = Instant::now();
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return result.map(|child| Spawned::new(child, at)),
        }
    }
}

/// Says what the system meant.
fn refusal(command: &Command, path: &Path, error: &io::Error) -> SpawnProblem {
    let shown = path.display();
    let (trouble, hint) = if system::is_unknown_format(error) {
        (
            format!("{shown} cannot be run: it is neither a program for this machine nor a script with a #! line"),
            Some("start it with its interpreter, or give it a first line such as #!/usr/bin/env python3".to_owned()),
        )
    } else {
        match error.kind() {
            // The file is there: `resolve` has seen it. So what is missing is what should run it.
            io::ErrorKind::NotFound => missing_interpreter(path),
            io::ErrorKind::ExecutableFileBusy => (format!("{shown} is still being written (text file busy)"), None),
            io::ErrorKind::PermissionDenied => (
                format!("{shown} may not be run: {error}"),
                Some(
                    "its folder may be mounted noexec, or the program that its first line names is not executable"
                        .to_owned(),
                ),
            ),
            io::ErrorKind::ArgumentListTooLong => (
                format!("{shown} cannot be run: arguments and environment are too long for the system"),
                None,
            ),
            io::ErrorKind::InvalidInput => (
                format!("{shown} cannot be run: an argument or variable holds a NUL character"),
                None,
            ),
            _ => (format!("{shown} cannot be run: {error}"), None),
        }
    };
    problem(command, trouble, hint)
}

fn missing_interpreter(path: &Path) -> (String, Option<String>) {
    let shown = path.display();
    let Some(interpreter) = interpreter(path) else {
        let trouble = format!("{shown} cannot be run: the loader or a library that it names is missing");
        return (
            trouble,
            Some("it may be built for another system; install it anew".to_owned()),
        );
    };
    if interpreter.ends_with('\r') {
        let trouble = format!("{shown} cannot be run: its first line ends in CR LF");
        return (trouble, Some("save it with Unix line ends".to_owned()));
    }
    let trouble = format!("{shown} cannot be run: its first line asks for {interpreter}, which does not exist");
    (
        trouble,
        Some("install it anew (a virtual environment that was moved does not work)".to_owned()),
    )
}

/// The program that the `#!` line names.
fn interpreter(path: &Path) -> Option<String> {
    let bytes = first_bytes(path).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches([' ', '\t']);
    line.split([' ', '\t']).next().map(str::to_owned)
}

fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(FIRST_LINE_LIMIT as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
