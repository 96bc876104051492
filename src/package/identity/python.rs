//! What a Python command line runs, and where its interpreter looks for packages.
//!
//! By files only. An interpreter is never asked, and its path is used as invoked: a venv's `python` is a link
//! out of the venv, so resolving it would lose the venv.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::place::Place;

/// What a Python command line runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PythonTarget {
    /// `-m MODULE`.
    Module(String),
    /// A script.
    Script(PathBuf),
    /// `-c` or standard input: code that no package owns.
    Inline,
}

/// What the arguments of a Python interpreter run; options in front (`-u`, `-X dev`, `-Wignore`) are skipped.
pub(super) fn target(args: &[String], place: &Place) -> PythonTarget {
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            if word == "-" {
                return PythonTarget::Inline;
            }
            return PythonTarget::Script(place.resolve(word));
        };
        if let Some(long) = letters.strip_prefix('-') {
            let detached = long == "check-hash-based-pycs";
            rest = after.get(usize::from(detached)..).unwrap_or_default();
            continue;
        }
        let Some(end) = letters.find(['m', 'c', 'X', 'W', 'Q']) else {
            rest = after;
            continue;
        };
        let attached = &letters[end + 1..];
        match (&letters[end..=end], attached) {
            ("c", _) => return PythonTarget::Inline,
            ("m", "") => return after.first().map_or(PythonTarget::Inline, |name| module(name)),
            ("m", name) => return module(name),
            (_, "") => rest = after.get(1..).unwrap_or_default(),
            _ => rest = after,
        }
    }
    PythonTarget::Inline
}

fn module(name: &str) -> PythonTarget {
    PythonTarget::Module(name.to_owned())
}

/// An interpreter's folders, as far as files tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interpreter {
    /// The folders in which it finds packages, the first to win first.
    pub(super) sites: Vec<PathBuf>,
    /// The folders into which packages put their scripts.
    pub(super) bins: Vec<PathBuf>,
}

/// The folders of the interpreter at this path, as invoked.
pub(super) fn interpreter(path: &Path, place: &Place) -> Interpreter {
    let mut found = Interpreter::default();
    for folder in place
        .variable("PYTHONPATH")
        .map(std::env::split_paths)
        .into_iter()
        .flatten()
    {
        push(&mut found.sites, place.resolve(folder));
    }
    let links = links(path);
    let environment = links
        .iter()
        .find_map(|link| prefix(link).filter(|folder| folder.join("pyvenv.cfg").is_file()));
    let prefixes = match &environment {
        Some(folder) if !sees_system(folder) => vec![folder.clone()],
        _ => links.iter().filter_map(|link| prefix(link)).collect(),
    };
    for folder in &prefixes {
        add_prefix(&mut found, folder, path);
    }
    if environment.is_none() || prefixes.len() > 1 {
        add_user(&mut found, path, place);
    }
    let linked: Vec<PathBuf> = found.sites.iter().flat_map(|site| path_files(site)).collect();
    for site in linked {
        push(&mut found.sites, site);
    }
    found
}

/// The path and everything that its links lead to, in order, the real file last.
fn links(path: &Path) -> Vec<PathBuf> {
    const MOST: usize = 40;
    let mut found = vec![path.to_owned()];
    while let Some(link) = found.last().and_then(|last| std::fs::read_link(last).ok()) {
        let folder = found.last().and_then(|last| last.parent()).unwrap_or(Path::new("/"));
        found.push(folder.join(link));
        if found.len() > MOST {
            break;
        }
    }
    if let Ok(real) = path.canonicalize() {
        push(&mut found, real);
    }
    found
}

fn prefix(executable: &Path) -> Option<PathBuf> {
    let bin = executable.parent()?;
    // `bin/../bin/python` is seen where uv writes relocatable scripts; its folders are the plain one's.
    let bin = if bin.components().any(|part| part.as_os_str() == OsStr::new("..")) {
        bin.canonicalize().ok()?
    } else {
        bin.to_owned()
    };
    bin.parent().map(Path::to_owned)
}

/// `include-system-site-packages = true` in a venv's `pyvenv.cfg`.
fn sees_system(environment: &Path) -> bool {
    let text = std::fs::read_to_string(environment.join("pyvenv.cfg")).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once('='))
        .any(|(key, value)| key.trim() == "include-system-site-packages" && value.trim().eq_ignore_ascii_case("true"))
}

fn add_prefix(found: &mut Interpreter, prefix: &Path, executable: &Path) {
    push(&mut found.bins, prefix.join("bin"));
    let roots = [prefix.join("lib"), prefix.join("lib64"), prefix.join("local/lib")];
    for library in roots.iter().flat_map(|root| libraries(root, executable)) {
        push(&mut found.sites, library.join("site-packages"));
        push(&mut found.sites, library.join("dist-packages"));
    }
    // Debian's python3 lives in /usr and also reads what pip put into /usr/local.
    if prefix == Path::new("/usr") {
        push(&mut found.bins, PathBuf::from("/usr/local/bin"));
        for library in libraries(Path::new("/usr/local/lib"), executable) {
            push(&mut found.sites, library.join("dist-packages"));
        }
    }
}

fn add_user(found: &mut Interpreter, executable: &Path, place: &Place) {
    let Some(home) = place.variable("HOME") else {
        return;
    };
    let local = Path::new(home).join(".local");
    push(&mut found.bins, local.join("bin"));
    for library in libraries(&local.join("lib"), executable) {
        push(&mut found.sites, library.join("site-packages"));
    }
}

/// `python3.N` (and `python3`) in a `lib` folder; only the interpreter's own N where its real name tells it.
fn libraries(root: &Path, executable: &Path) -> Vec<PathBuf> {
    let real = executable.canonicalize().unwrap_or_else(|_| executable.to_owned());
    let own = real
        .file_name()
        .and_then(OsStr::to_str)
        .filter(|name| name.contains('.'))
        .map(str::to_owned);
    let mut names: Vec<String> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("python3") || name.starts_with("pypy3"))
        .collect();
    names.sort();
    if own.as_ref().is_some_and(|own| names.contains(own)) {
        names.retain(|name| Some(name) == own.as_ref() || name == "python3");
    }
    names.iter().map(|name| root.join(name)).collect()
}

/// The folders that a site folder's `.pth` files add: plain paths, and uv's `site.addsitedir("…")` for overlays.
fn path_files(site: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(site)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|file| file.extension() == Some(OsStr::new("pth")))
        .collect();
    files.sort();
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let folders = texts.flat_map(|text| text.lines().filter_map(path_line).collect::<Vec<_>>());
    folders
        .map(|folder| site.join(folder))
        .filter(|folder| folder.is_dir())
        .collect()
}

fn path_line(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some((_, call)) = line.split_once("addsitedir(") {
        let quote = call.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        return call[1..].split(quote).next().map(str::to_owned);
    }
    let is_path = !line.is_empty() && !line.starts_with('#') && !line.starts_with("import ");
    is_path.then(|| line.to_owned())
}

fn push(folders: &mut Vec<PathBuf>, folder: PathBuf) {
    if !folders.contains(&folder) {
        folders.push(folder);
    }
}
