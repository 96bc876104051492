//! Registries of npm's and of PyPI's shape on loopback, and a fleet whose clients know no other.

#![expect(clippy::print_stdout, reason = "says why a test is skipped")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::fleet::Fleet;

/// One that answers until it is dropped. What it offers is read from its file anew for each question.
pub(crate) struct Registry {
    process: Child,
    pub(crate) address: String,
}

impl Registry {
    /// One of npm's shape.
    pub(crate) fn npm(spec: &Path) -> Self {
        Self::start("registry/registry.py", spec, "0")
    }

    /// One of PyPI's shape.
    pub(crate) fn pypi(spec: &Path) -> Self {
        Self::start("simple_index/simple_index.py", spec, "0")
    }

    /// One of npm's shape where another one was before.
    pub(crate) fn npm_again(spec: &Path, address: &str) -> Self {
        Self::start("registry/registry.py", spec, port_of(address))
    }

    fn start(script: &str, spec: &Path, port: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(script);
        let mut command = Command::new("python3");
        command.arg(script).arg(spec).arg(port).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        let address = address.trim().to_owned();
        assert!(!address.is_empty(), "it does not listen");
        Self { process, address }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A registry that answers every question with an empty object, until it is dropped.
pub(crate) struct Silent(Child);

impl Silent {
    /// At the address where another one was.
    pub(crate) fn start(address: &str) -> Self {
        let script = "import http.server, sys\n\
            class Empty(http.server.BaseHTTPRequestHandler):\n\
            \x20   def do_GET(self):\n\
            \x20       self.send_response(200); self.send_header('Content-Type', 'application/json'); self.end_headers()\n\
            \x20       self.wfile.write(b'{}')\n\
            \x20   def log_message(self, *_):\n\
            \x20       pass\n\
            server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Empty)\n\
            print('listens', flush=True)\n\
            server.serve_forever()\n";
        let mut command = Command::new("python3");
        command.args(["-c", script, port_of(address)]).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "listens\n");
        Self(process)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn port_of(address: &str) -> &str {
    address.trim_end_matches('/').rsplit(':').next().unwrap()
}

/// The fleet, with package managers that ask only there, and a cache of their own.
pub(crate) fn at(fleet: Fleet, address: &str) -> Fleet {
    let cache = fleet.path().join("cache").to_string_lossy().into_owned();
    let npmrc = fleet.path().join("npmrc").to_string_lossy().into_owned();
    fleet
        .env("npm_config_userconfig", &npmrc)
        .env("npm_config_cache", &cache)
        .env("npm_config_registry", address)
        .env("npm_config_fetch_retries", "0")
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_FIND_LINKS", "")
        .env("PIP_INDEX_URL", address)
        .env("UV_INDEX_URL", address)
}

/// What a registry of npm's shape offers of one package: its tag `latest`, and versions with the Node they ask for.
pub(crate) fn offer(fleet: &Fleet, name: &str, latest: &str, versions: &[(&str, &str)]) -> PathBuf {
    let versions: serde_json::Map<_, _> = versions
        .iter()
        .map(|(version, node)| ((*version).to_owned(), serde_json::json!({"engines": {"node": node}})))
        .collect();
    let package = serde_json::json!({"dist-tags": {"latest": latest}, "versions": versions});
    let spec = serde_json::json!({"packages": {name: package}});
    fleet.write("spec.json", &spec.to_string())
}

/// Whether these programs are here; says which is not.
pub(crate) fn are_there(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let tried = Command::new(program).arg("--version").output();
        !tried.is_ok_and(|output| output.status.success())
    });
    if let Some(program) = missing {
        println!("skipped: {program} not found");
    }
    missing.is_none()
}
