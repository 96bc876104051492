//! What a server gets, and what is said when it cannot be started.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;
use tokio::io::AsyncReadExt;

use super::*;
use crate::client::process::{RUN_VARIABLE, find_program};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn write(folder: &TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode can be set");
    path
}

fn refused(command: &Command) -> SpawnProblem {
    let Err(problem) = Server::start(command) else {
        panic!("{command:?} must not start");
    };
    assert_eq!(problem.program, command.program.to_string_lossy());
    problem
}

fn refused_file(path: &Path) -> SpawnProblem {
    refused(&command(&path.to_string_lossy(), &[]))
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_the_mark() {
    let env = [("PATH", "/usr/bin:/bin"), ("GREETING", "hällo = wörld"), ("EMPTY", "")];
    let env: Vec<(String, String)> = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let mut server = Server::start(&Command {
        env: env.clone(),
        ..command("env", &["-0"])
    })
    .expect("env can be started");
    let mut output = String::new();
    timeout(LIMIT, server.stdout.read_to_string(&mut output))
        .await
        .expect("it ends")
        .expect("it can be read");
    let (mark, rest): (BTreeSet<_>, BTreeSet<_>) = output
        .split_terminator('\0')
        .partition(|line| line.starts_with(&format!("{RUN_VARIABLE}=")));
    let wanted: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(rest, wanted.iter().map(String::as_str).collect());
    assert_eq!(mark.len(), 1);
}

#[tokio::test]
async fn arguments_and_folder_arrive_as_they_are() {
    let folder = folder();
    let script = "printf '%s\\n' \"$@\"; pwd -P";
    let command = Command {
        cwd: folder.path().to_owned(),
        ..command("sh", &["-c", script, "sh", "$HOME *", "", "'\""])
    };
    let before = Instant::now();
    let mut server = Server::start(&command).expect("sh can be started");
    assert!(server.process.spawned_at() >= before);
    for expected in ["$HOME *", "", "'\""] {
        assert_eq!(server.line().await, expected);
    }
    let real = folder.path().canonicalize().expect("it is there");
    assert_eq!(server.line().await, real.to_string_lossy());
}

#[tokio::test]
async fn a_program_is_looked_up_on_the_path_that_the_server_gets() {
    let folder = folder();
    write(&folder, "our-server", "#!/bin/sh\necho here\n", 0o755);
    let path = format!("/nowhere:{}", folder.path().display());
    let env = vec![("PATH".to_owned(), path)];
    let mut server = Server::start(&Command {
        env,
        ..command("our-server", &[])
    })
    .expect("it is found");
    assert_eq!(server.line().await, "here");
}

#[tokio::test]
async fn a_relative_program_starts_at_the_working_directory() {
    let folder = folder();
    write(&folder, "server", "#!/bin/sh\necho here\n", 0o755);
    let command = Command {
        cwd: folder.path().to_owned(),
        ..command("./server", &[])
    };
    assert_eq!(Server::start(&command).expect("it is found").line().await, "here");
}

#[tokio::test]
async fn a_missing_working_directory_is_told_before_a_missing_program() {
    let command = Command {
        cwd: PathBuf::from("/nowhere/at/all"),
        ..command("no-such-program", &[])
    };
    assert_eq!(
        refused(&command).problem,
        "working directory /nowhere/at/all does not exist"
    );
    let command = Command {
        cwd: PathBuf::from("/dev/null"),
        ..command
    };
    assert_eq!(refused(&command).problem, "working directory /dev/null is not a folder");
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_path_that_was_searched() {
    let env = vec![("PATH".to_owned(), "/nowhere:/usr/bin".to_owned())];
    let problem = refused(&Command {
        env,
        ..command("no-such-program", &[])
    });
    assert_eq!(
        problem.problem,
        "command not found: no-such-program (PATH searched: /nowhere:/usr/bin)"
    );
    let problem = refused_file(Path::new("/nowhere/server"));
    assert_eq!(problem.problem, "command not found: /nowhere/server does not exist");
    assert!(refused(&command("", &[])).problem.contains("`command` is empty"));
}

#[tokio::test]
async fn a_whole_command_line_as_program_is_shown_split() {
    let problem = refused(&command("python3 -m 'my server'", &[]));
    assert!(
        problem
            .problem
            .starts_with("command not found: python3 -m 'my server' (PATH searched: "),
        "{problem:?}"
    );
    let hint = r#"`command` holds spaces; write command = "python3", args = ["-m", "my server"]"#;
    assert_eq!(problem.hint.as_deref(), Some(hint));
    let problem = refused(&command("/nowhere/bin/server --stdio", &[]));
    let hint = r#"`command` holds spaces; write command = "/nowhere/bin/server", args = ["--stdio"]"#;
    assert_eq!(problem.hint.as_deref(), Some(hint));
}

#[tokio::test]
async fn a_file_that_cannot_be_run_is_told_with_the_reason() {
    let folder = folder();
    let path = write(&folder, "server.py", "print(1)\n", 0o644);
    let shown = path.display();
    let problem = refused_file(&path);
    assert_eq!(problem.problem, format!("{shown} is not executable"));
    let hint = format!("write command = \"python3\", args = [\"{shown}\"], or chmod +x {shown}");
    assert_eq!(problem.hint, Some(hint));

    let env = vec![("PATH".to_owned(), folder.path().display().to_string())];
    let problem = refused(&Command {
        env,
        ..command("server.py", &[])
    });
    assert_eq!(problem.problem, format!("{shown} is not executable"));

    let problem = refused_file(folder.path());
    assert_eq!(problem.problem, format!("{} is a folder", folder.path().display()));
}

#[tokio::test]
async fn a_script_without_a_usable_first_line_is_not_given_to_a_shell() {
    let folder = folder();
    let path = write(&folder, "bare", "echo run by a shell\n", 0o755);
    let problem = refused_file(&path).problem;
    assert!(
        problem.ends_with("it is neither a program for this machine nor a script with a #! line"),
        "{problem}"
    );

    let path = write(&folder, "moved", "#!/nowhere/venv/bin/python3 -u\nprint(1)\n", 0o755);
    let problem = refused_file(&path).problem;
    assert!(
        problem.ends_with("its first line asks for /nowhere/venv/bin/python3, which does not exist"),
        "{problem}"
    );

    let path = write(&folder, "windows", "#!/bin/sh\r\necho\r\n", 0o755);
    let problem = refused_file(&path).problem;
    assert!(problem.ends_with("its first line ends in CR LF"), "{problem}");
}

#[tokio::test]
async fn what_the_system_cannot_take_is_told() {
    let problem = refused(&command("sh", &["-c", "a\0b"])).problem;
    assert!(
        problem.ends_with("an argument or variable holds a NUL character"),
        "{problem}"
    );
    let problem = refused(&command("sh", &["-c", &"x".repeat(8 << 20)])).problem;
    assert!(
        problem.ends_with("arguments and environment are too long for the system"),
        "{problem}"
    );
}

#[test]
fn a_program_is_found_in_the_first_folder_that_has_an_executable_one() {
    let (first, second) = (folder(), folder());
    write(&first, "server", "", 0o644);
    let found = write(&second, "server", "#!/bin/sh\n", 0o755);
    let dirs = [
        PathBuf::from("/nowhere"),
        first.path().to_owned(),
        second.path().to_owned(),
    ];
    assert_eq!(find_program("server", &dirs), Some(found.clone()));
    assert_eq!(find_program("other", &dirs), None);
    assert_eq!(find_program(&found.to_string_lossy(), &[]), Some(found));
    assert_eq!(
        find_program(&first.path().join("server").to_string_lossy(), &dirs),
        None
    );
}
