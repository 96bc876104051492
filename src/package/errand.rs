//! One run of a package manager or the like: output by lines, a limit, and an end to its whole process
//! group when it is cancelled, runs out of time or nobody waits for it any more.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Environment;

/// How many of the last lines are kept for a failure.
const LAST_LINES: usize = 12;
/// Longer lines are cut: some installers draw megabytes of progress without a line end.
const LONGEST_LINE: usize = 4096;
/// How much of standard output is kept for callers that read it.
const KEPT_OUTPUT: usize = 64 * 1024;
/// Between SIGTERM and SIGKILL: npm and apt-get use it to clean up.
const GRACE: Duration = Duration::from_secs(2);
/// After the end: how long a pipe may stay open in the hands of something it left behind.
const DRAIN: Duration = Duration::from_millis(500);

/// A program to be run to its end.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its complete environment.
    pub environment: Environment,
    /// Its working directory.
    pub folder: PathBuf,
    /// After this it is ended.
    pub limit: Duration,
}

/// It ended with exit code 0.
#[derive(Clone, Debug)]
pub struct Done {
    /// Started to ended.
    pub took: Duration,
    /// The start of its standard output.
    pub output: String,
}

/// It did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// We ended it, because the run was interrupted.
    Cancelled,
    /// It failed.
    Failed {
        /// What happened: "exit code 1".
        problem: String,
        /// Its last lines, oldest first.
        last_lines: Vec<String>,
    },
}

/// The line that says most: npm names the reason first and the place of its log last.
pub fn telling_line(lines: &[String]) -> Option<&str> {
    let npm = lines.iter().find(|line| line.contains("npm error "));
    npm.or_else(|| lines.last()).map(|line| line.trim())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

/// What is known of the output so far.
struct Heard {
    output: String,
    /// How much of it is kept.
    kept: usize,
    last_lines: VecDeque<String>,
}

/// Ends what is left of a process group when it is dropped.
struct Group(Option<i32>);

impl Errand {
    /// Runs it. `on_line` gets every line of both streams as it comes.
    pub async fn run(
        &self,
        on_line: &mut (dyn FnMut(&str) + Send),
        cancel: &CancellationToken,
    ) -> Result<Done, Trouble> {
        self.run_keeping(KEPT_OUTPUT, on_line, cancel).await
    }

    /// Runs it for its standard output, of which this many bytes are kept at most.
    pub async fn answer(&self, most: usize, cancel: &CancellationToken) -> Result<String, Trouble> {
        Ok(self.run_keeping(most, &mut |_line| {}, cancel).await?.output)
    }

    async fn run_keeping(
        &self,
        kept: usize,
        on_line: &mut (dyn FnMut(&str) + Send),
        cancel: &CancellationToken,
    ) -> Result<Done, Trouble> {
        if cancel.is_cancelled() {
            return Err(Trouble::Cancelled);
        }
        let started = Instant::now();
        let mut child = self.spawn().map_err(|error| self.not_started(&error))?;
        let group = Group::of(&child);
        let mut readers = JoinSet::new();
        let mut lines = read_both(&mut child, &mut readers);
        let mut heard = Heard::keeping(kept);
        let ended = {
            let ending = watch(&mut child, &mut lines, &mut heard, on_line);
            tokio::select! {
                ended = timeout(self.limit, ending) => ended.map_err(|_elapsed| self.out_of_time()),
                () = cancel.cancelled() => Err(Trouble::Cancelled),
            }
        };
        if ended.is_err() {
            group.ask_to_end();
            // Whether it went by itself or not: the group is ended for good below.
            drop(timeout(GRACE, child.wait()).await);
        }
        drop(group);
        drop(child.start_kill());
        let took = started.elapsed();
        drop(timeout(DRAIN, heard.rest(&mut lines, on_line)).await);
        readers.shutdown().await;
        match ended {
            Ok(Ok(status)) if status.success() => Ok(Done {
                took,
                output: heard.output,
            }),
            Ok(Ok(status)) => Err(heard.failed(ending_words(status))),
            Ok(Err(error)) => Err(heard.failed(format!("cannot be waited for: {error}"))),
            Err(Trouble::Cancelled) => Err(Trouble::Cancelled),
            Err(Trouble::Failed { problem, .. }) => Err(heard.failed(problem)),
        }
    }

    /// Its command line, for logs.
    pub fn command_line(&self) -> String {
        let arguments = self
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned());
        let words: Vec<String> = std::iter::once(self.program.to_string_lossy().into_owned())
            .chain(arguments)
            .collect();
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.variables())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command.spawn()
    }

    fn not_started(&self, error: &std::io::Error) -> Trouble {
        Trouble::Failed {
            problem: format!("cannot start {}: {error}", self.program.display()),
            last_lines: Vec::new(),
        }
    }

    fn out_of_time(&self) -> Trouble {
        Trouble::Failed {
            problem: format!("not done after {} s, ended", self.limit.as_secs()),
            last_lines: Vec::new(),
        }
    }
}

impl Heard {
    fn keeping(kept: usize) -> Self {
        Self {
            output: String::new(),
            kept,
            last_lines: VecDeque::new(),
        }
    }

    fn take(&mut self, stream: Stream, line: String) {
        if stream == Stream::Output && self.output.len() + line.len() < self.kept {
            self.output.push_str(&line);
            self.output.push('\n');
        }
        if line.trim().is_empty() {
            return;
        }
        if self.last_lines.len() == LAST_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(line);
    }

    async fn rest(&mut self, lines: &mut UnboundedReceiver<(Stream, String)>, on_line: &mut (dyn FnMut(&str) + Send)) {
        while let Some((stream, line)) = lines.recv().await {
            on_line(&line);
            self.take(stream, line);
        }
    }

    fn failed(self, problem: String) -> Trouble {
        Trouble::Failed {
            problem,
            last_lines: self.last_lines.into(),
        }
    }
}

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()))
    }

    fn ask_to_end(&self) {
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGTERM);
    }

    #[cfg(unix)]
    fn signal(&self, signal: nix::sys::signal::Signal) {
        if let Some(id) = self.0 {
            // A group that is gone is what we want.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGKILL);
    }
}

/// Hands lines on until the process ends.
async fn watch(
    child: &mut Child,
    lines: &mut UnboundedReceiver<(Stream, String)>,
    heard: &mut Heard,
    on_line: &mut (dyn FnMut(&str) + Send),
) -> std::io::Result<ExitStatus> {
    loop {
        tokio::select! {
            Some((stream, line)) = lines.recv() => {
                on_line(&line);
                heard.take(stream, line);
            }
            status = child.wait() => return status,
        }
    }
}

fn read_both(child: &mut Child, readers: &mut JoinSet<()>) -> UnboundedReceiver<(Stream, String)> {
    let (sender, receiver) = unbounded_channel();
    if let Some(output) = child.stdout.take() {
        readers.spawn(read_lines(output, Stream::Output, sender.clone()));
    }
    if let Some(error) = child.stderr.take() {
        readers.spawn(read_lines(error, Stream::Error, sender));
    }
    receiver
}

/// Splits at line feeds and at carriage returns, which progress bars use.
async fn read_lines(mut from: impl AsyncRead + Unpin, stream: Stream, to: UnboundedSender<(Stream, String)>) {
    let mut chunk = [0; 8192];
    let mut line = Vec::new();
    let mut after_return = false;
    let send = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line).into_owned();
        line.clear();
        // Nobody listens any more once the errand is over.
        drop(to.send((stream, text)));
    };
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        for byte in &chunk[..count] {
            match byte {
                b'\n' if after_return => {}
                b'\r' if line.is_empty() => {}
                b'\n' | b'\r' => send(&mut line),
                _ if line.len() < LONGEST_LINE => line.push(*byte),
                _ => {}
            }
            after_return = *byte == b'\r';
        }
    }
    if !line.is_empty() {
        send(&mut line);
    }
}

fn ending_words(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    status.code().map_or_else(
        || "ended without an exit code".to_owned(),
        |code| format!("exit code {code}"),
    )
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Errand {
        Errand {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            environment: Environment::ours(),
            folder: std::env::temp_dir(),
            limit: Duration::from_mins(1),
        }
    }

    async fn run(errand: Errand) -> (Result<Done, Trouble>, Vec<String>) {
        let mut lines = Vec::new();
        let cancel = CancellationToken::new();
        let ended = errand.run(&mut |line| lines.push(line.to_owned()), &cancel).await;
        (ended, lines)
    }

    fn is_alive(pid: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie that waits for its new parent has ended.
        !stat.is_empty() && !stat.contains(") Z ")
    }

    async fn gone(pid: i32) -> bool {
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_alive(pid) && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        !is_alive(pid)
    }

    #[tokio::test]
    async fn lines_of_both_streams_are_handed_on_and_output_is_kept() {
        let (ended, lines) = run(shell(r"echo one; echo two >&2; printf 'a\rb\r\nlast'")).await;
        assert_eq!(ended.unwrap().output, "one\na\nb\nlast\n");
        assert!(
            lines.contains(&"two".to_owned()) && lines.contains(&"last".to_owned()),
            "{lines:?}"
        );
    }

    #[tokio::test]
    async fn a_failure_tells_the_exit_code_and_the_last_lines() {
        let (ended, _) = run(shell("for i in $(seq 30); do echo line $i; done; exit 7")).await;
        let Err(Trouble::Failed { problem, last_lines }) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(problem, "exit code 7");
        assert_eq!(last_lines.len(), LAST_LINES);
        assert_eq!(last_lines.last().unwrap(), "line 30");
    }

    #[tokio::test]
    async fn what_cannot_be_started_says_so() {
        let errand = Errand {
            program: PathBuf::from("/no/such/program"),
            ..shell("")
        };
        let (Err(Trouble::Failed { problem, .. }), _) = run(errand).await else {
            panic!("it started");
        };
        assert!(problem.starts_with("cannot start /no/such/program"), "{problem}");
    }

    #[tokio::test]
    async fn cancelling_ends_the_whole_group() {
        let cancel = CancellationToken::new();
        let errand = shell("trap '' TERM; (trap '' TERM; sleep 600) & echo $!; wait");
        let mut sleeper = None;
        let stop = cancel.clone();
        let ended = errand
            .run(
                &mut |line| {
                    sleeper = line.parse::<i32>().ok();
                    stop.cancel();
                },
                &cancel,
            )
            .await;
        assert_eq!(ended.unwrap_err(), Trouble::Cancelled);
        assert!(gone(sleeper.unwrap()).await);
    }

    #[tokio::test]
    async fn running_out_of_time_is_a_failure_and_ends_it() {
        let errand = Errand {
            limit: Duration::from_millis(50),
            ..shell("echo begun; exec sleep 600")
        };
        let (Err(Trouble::Failed { problem, .. }), _) = run(errand).await else {
            panic!("it ended by itself");
        };
        assert!(problem.starts_with("not done after"), "{problem}");
    }

    #[tokio::test]
    async fn what_it_leaves_behind_is_ended_and_does_not_hold_us_up() {
        let (ended, lines) = run(shell("sleep 600 & echo $!")).await;
        assert!(ended.is_ok());
        assert!(gone(lines[0].parse().unwrap()).await);
    }
}
