//! Finds the program of a command, and says precisely what is in the way when it cannot be started.
//! It starts nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::system::DEFAULT_PATH;
use super::{Command, SpawnProblem};

/// The executable of that name in the first of these folders that has one; a name with a slash is a
/// path and stands for itself. Null if there is none that can be run.
pub fn find_program(name: &str, dirs: &[PathBuf]) -> Option<PathBuf> {
    let path = Path::new(name);
    if is_path(path) {
        return which::which_in(path, None::<OsString>, ".").ok();
    }
    // One folder at a time: a folder with a colon in its name cannot stand in a PATH.
    dirs.iter().find_map(|dir| {
        let candidate = dir.join(name);
        which::which_in(&candidate, None::<OsString>, ".").ok()
    })
}

/// The program's path, or what is wrong with the command. Looks at the working directory first: the
/// system gives the same error for a missing folder and a missing program.
pub(super) fn resolve(command: &Command) -> Result<PathBuf, SpawnProblem> {
    check_working_directory(command)?;
    if is_path(&command.program) {
        let path = command.cwd.join(&command.program);
        check_file(command, &path)?;
        return Ok(path);
    }
    let name = command.program.to_string_lossy();
    let dirs = search_path(command);
    if let Some(found) = find_program(&name, &dirs) {
        return Ok(found);
    }
    if let Some(file) = dirs.iter().map(|dir| dir.join(&*name)).find(|file| file.is_file()) {
        check_file(command, &file)?;
    }
    Err(not_found(command, &dirs))
}

/// A problem of this command.
pub(super) fn problem(command: &Command, problem: String, hint: Option<String>) -> SpawnProblem {
    SpawnProblem {
        program: command.program.to_string_lossy().into_owned(),
        problem,
        hint,
    }
}

fn is_path(program: &Path) -> bool {
    program.components().count() > 1 || program.is_absolute() || program.to_string_lossy().contains('/')
}

/// The folders in which a bare name is looked up: the child's own `PATH`, not ours.
fn search_path(command: &Command) -> Vec<PathBuf> {
    let path = command.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = path.map_or(DEFAULT_PATH, |(_, value)| value.as_str());
    std::env::split_paths(path)
        .filter(|dir| !dir.as_os_str().is_empty())
        .collect()
}

fn check_working_directory(command: &Command) -> Result<(), SpawnProblem> {
    let shown = command.cwd.display();
    let trouble = match std::fs::metadata(&command.cwd) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => format!("working directory {shown} is not a folder"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("working directory {shown} does not exist")
        }
        Err(error) => format!("working directory {shown} cannot be used: {error}"),
    };
    let hint = "create it, or change `cwd`".to_owned();
    Err(problem(command, trouble, Some(hint)))
}

/// Whether the file can be run at all, as far as its metadata tells.
fn check_file(command: &Command, path: &Path) -> Result<(), SpawnProblem> {
    let shown = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(missing_file(command, path)),
        Err(error) => return Err(problem(command, format!("{shown} cannot be read: {error}"), None)),
    };
    if metadata.is_dir() {
        let hint = "`command` is the program itself, not the folder it lies in".to_owned();
        return Err(problem(command, format!("{shown} is a folder"), Some(hint)));
    }
    if which::which_in(path, None::<OsString>, ".").is_err() {
        return Err(problem(
            command,
            format!("{shown} is not executable"),
            Some(not_executable_hint(path)),
        ));
    }
    Ok(())
}

fn missing_file(command: &Command, path: &Path) -> SpawnProblem {
    let trouble = if path.is_symlink() {
        format!(
            "command not found: {} is a link to a file that does not exist",
            path.display()
        )
    } else {
        format!("command not found: {} does not exist", path.display())
    };
    problem(command, trouble, split_hint(&command.program.to_string_lossy()))
}

fn not_found(command: &Command, dirs: &[PathBuf]) -> SpawnProblem {
    let name = command.program.to_string_lossy();
    let searched: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    let searched = if searched.is_empty() {
        "nothing: it is empty".to_owned()
    } else {
        searched.join(":")
    };
    let trouble = if name.is_empty() {
        "command not found: `command` is empty".to_owned()
    } else {
        format!("command not found: {name} (PATH searched: {searched})")
    };
    let hint = split_hint(&name).unwrap_or_else(|| "install it, or give its full path in `command`".to_owned());
    problem(command, trouble, Some(hint))
}

/// The cure for a whole command line in `command`.
fn split_hint(program: &str) -> Option<String> {
    if !program.trim().contains(char::is_whitespace) {
        return None;
    }
    let words = shlex::split(program)?;
    let (first, rest) = words.split_first()?;
    let rest: Vec<String> = rest.iter().map(|word| quoted(word)).collect();
    let args = if rest.is_empty() {
        String::new()
    } else {
        format!(", args = [{}]", rest.join(", "))
    };
    Some(format!(
        "`command` holds spaces; write command = {}{args}",
        quoted(first)
    ))
}

/// As a TOML basic string.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn not_executable_hint(path: &Path) -> String {
    let shown = path.display();
    let interpreter = match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => "python3",
        Some("js" | "mjs" | "cjs") => "node",
        Some("sh") => "sh",
        _ => return format!("chmod +x {shown}"),
    };
    format!(
        "write command = \"{interpreter}\", args = [{}], or chmod +x {shown}",
        quoted(&path.to_string_lossy())
    )
}
