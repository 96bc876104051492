//! What really ran, for real servers by every launch command that people use.
//!
//! Needs the package registries, so it runs only where `MCP_SMOKE_REGISTRY=1` says that they are there.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and says what it tries"
)]

mod ground;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_smoke::client::process::{Command, ServerProcess};
use mcp_smoke::event::{Launcher, ProcessIdentity, RowId, Sink};
use mcp_smoke::package::identity::identify;
use tokio::sync::mpsc::unbounded_channel;

use self::ground::{environment, handshake, lay_out_nvm, npm_version, nvm_folder, pypi_version, run};

/// A start may download the package first.
const START_LIMIT: Duration = Duration::from_mins(3);

const MEMORY: &str = "@modelcontextprotocol/server-memory";
const DEVTOOLS: &str = "chrome-devtools-mcp";
const TIME: &str = "mcp-server-time";

/// Older releases lie where a wrong look would find them, or where the newest would be wrong.
const OLD_MEMORY: &str = "@modelcontextprotocol/server-memory@2025.9.25";
const OLD_TIME: [&str; 2] = ["mcp-server-time==2025.9.25", "mcp<2"];

/// A server of a few lines that no package owns.
const LOOSE_NODE: &str = r"
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method !== 'initialize') return;
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'loose', version: '0' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
";

/// The same in Python, with the helper process that `multiprocessing` starts for itself.
const LOOSE_PYTHON: &str = r#"
import json, sys
from multiprocessing import resource_tracker
resource_tracker.ensure_running()
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        info = {"name": "loose", "version": "0"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

const FASTMCP: &str = r#"
from fastmcp import FastMCP
mcp = FastMCP("three-tools")
@mcp.tool
def add(a: int, b: int) -> int:
    return a + b
"#;

/// A launch command and who must be found behind it.
struct Case {
    /// What is tried.
    what: &'static str,
    /// The program and its arguments.
    line: Vec<String>,
    /// The folder it starts in.
    cwd: PathBuf,
    /// Put before `PATH`.
    path_first: Option<PathBuf>,
    /// `name version`, or `-`.
    package: String,
    /// `kind version`.
    runtime: String,
    /// Its path, where that is known beforehand.
    executable: Option<PathBuf>,
    launcher: Launcher,
}

impl Case {
    /// Names like `python3` beside `python` in one folder are the same file.
    fn ran_by(&self, identity: &ProcessIdentity) -> bool {
        let Some(expected) = &self.executable else {
            return true;
        };
        let seen = identity.runtime.as_ref().map(|runtime| runtime.executable.as_path());
        seen.is_some_and(|seen| {
            seen.parent() == expected.parent() && seen.canonicalize().ok() == expected.canonicalize().ok()
        })
    }
}

#[tokio::test]
async fn every_launch_command_is_seen_through() {
    if std::env::var_os("MCP_SMOKE_REGISTRY").is_none_or(|value| value != "1") {
        println!("skipped: set MCP_SMOKE_REGISTRY=1 (needs the package registries)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let fleet = Fleet::install(&folder.path().canonicalize().unwrap());
    let mut wrong = Vec::new();
    for case in fleet.cases() {
        let started = Instant::now();
        let seen = match fleet.start_and_identify(&case).await {
            Ok(identity) if !case.ran_by(&identity) => format!("{:?}", identity.runtime),
            Ok(identity) => shown(&identity),
            Err(problem) => problem,
        };
        let expected = format!("{} | {} | {}", case.package, case.runtime, case.launcher.name());
        println!("{:<34} {seen} ({:.1} s)", case.what, started.elapsed().as_secs_f64());
        if seen != expected {
            wrong.push(format!(
                "{}: expected {expected}\n  seen {seen}\n  {:?}",
                case.what, case.line
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn shown(identity: &ProcessIdentity) -> String {
    let package = identity.package.as_ref();
    let package = package.map_or_else(|| "-".to_owned(), |found| format!("{} {}", found.name, found.version));
    let runtime = identity.runtime.as_ref().map_or_else(
        || "-".to_owned(),
        |found| format!("{} {}", found.kind, found.version.as_deref().unwrap_or("-")),
    );
    format!("{package} | {runtime} | {}", identity.launcher.name())
}

/// What is installed, once for all cases.
struct Fleet {
    root: PathBuf,
    node: String,
    python: String,
    /// In `app`.
    old_memory: String,
    /// What a fresh install gives.
    memory: String,
    devtools: String,
    /// In `py`.
    old_time: String,
    time: String,
    fastmcp_slim: String,
}

impl Fleet {
    fn install(root: &Path) -> Self {
        let at = |path: &str| root.join(path).to_string_lossy().into_owned();
        for folder in ["app", "empty", "srv", "nvm"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        fs::write(root.join("app/package.json"), r#"{"private": true}"#).unwrap();
        fs::write(root.join("srv/loose.cjs"), LOOSE_NODE).unwrap();
        fs::write(root.join("srv/loose.py"), LOOSE_PYTHON).unwrap();
        fs::write(root.join("srv/three.py"), FASTMCP).unwrap();
        run(root, &["npm", "install", "--prefix", &at("app"), OLD_MEMORY, DEVTOOLS]);
        run(root, &["python3", "-m", "venv", &at("py")]);
        run(
            root,
            &[
                &at("py/bin/python"),
                "-m",
                "pip",
                "install",
                "-q",
                "uv",
                OLD_TIME[0],
                OLD_TIME[1],
            ],
        );
        run(root, &["python3", "-m", "venv", "--without-pip", &at("fast")]);
        let uv = at("py/bin/uv");
        run(
            root,
            &[
                &uv,
                "pip",
                "install",
                "-q",
                "--python",
                &at("fast/bin/python"),
                "fastmcp",
            ],
        );
        run(root, &[&uv, "tool", "install", "-q", TIME]);
        let node = run(root, &["node", "--version"])
            .trim()
            .trim_start_matches('v')
            .to_owned();
        lay_out_nvm(root, &node);
        Self {
            old_memory: npm_version(root, &["--prefix", &at("app")], MEMORY),
            memory: npm_version(root, &["-g", "--prefix", &at(&nvm_folder(&node))], MEMORY),
            devtools: npm_version(root, &["--prefix", &at("app")], DEVTOOLS),
            old_time: pypi_version(root, "py", TIME),
            time: pypi_version(root, "tools/mcp-server-time", TIME),
            fastmcp_slim: pypi_version(root, "fast", "fastmcp-slim"),
            python: run(root, &["python3", "--version"])
                .trim()
                .trim_start_matches("Python ")
                .to_owned(),
            node,
            root: root.to_owned(),
        }
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = self.npm_cases();
        cases.extend(self.node_cases());
        cases.extend(self.uv_cases());
        cases.extend(self.python_cases());
        cases
    }

    fn npm_cases(&self) -> Vec<Case> {
        let exact = format!("{MEMORY}@{}", self.memory);
        let there = format!("cd {} && npx -y {MEMORY}", self.at("app"));
        let away = format!("cd {} && A=B npx -y {exact}", self.at("empty"));
        let npx = |what, line: &[&str], cwd| self.memory_case(what, line, cwd, Launcher::Npx);
        let shell = |what, line: &[&str], cwd| self.memory_case(what, line, cwd, Launcher::Shell);
        vec![
            npx("npx, bare name", &["npx", "-y", MEMORY], "empty"),
            npx("npx, exact version", &["npx", "-y", &exact], "empty"),
            npx(
                "npx, latest",
                &["npx", "-y", "@modelcontextprotocol/server-memory@latest"],
                "empty",
            ),
            npx("npx from a local node_modules", &["npx", MEMORY], "app"),
            npx("npx by bin name", &["npx", "mcp-server-memory"], "app"),
            npx(
                "npx with -p",
                &["npx", "-y", "-p", MEMORY, "mcp-server-memory"],
                "empty",
            ),
            npx("npm exec", &["npm", "exec", "--yes", "--", MEMORY], "empty"),
            npx("env and npx", &["env", "A=B", "npx", "-y", MEMORY], "empty"),
            Case {
                package: format!("{MEMORY} {}", self.old_memory),
                ..shell("bash -c with cd and npx", &["bash", "-c", &there], "empty")
            },
            Case {
                package: format!("{MEMORY} {}", self.memory),
                ..shell("sh -c with cd and npx of a version", &["sh", "-c", &away], "app")
            },
            Case {
                package: format!("{MEMORY} {}", self.old_memory),
                ..npx("npx of an older version", &["npx", "-y", OLD_MEMORY], "empty")
            },
        ]
    }

    fn node_cases(&self) -> Vec<Case> {
        let script = "app/node_modules/@modelcontextprotocol/server-memory/dist/index.js";
        let relative = "node_modules/@modelcontextprotocol/server-memory/dist/index.js";
        let bin = self.at("app/node_modules/.bin/mcp-server-memory");
        let forks = format!("node {}; true", self.at(script));
        let direct = |what, line: &[&str], cwd| self.memory_case(what, line, cwd, Launcher::Direct);
        let options = [
            "node",
            "--no-warnings",
            "-C",
            "development",
            "--import",
            "data:text/javascript,1",
        ];
        let options: Vec<&str> = options.into_iter().chain([script]).collect();
        let mut cases = vec![
            direct("a .bin link", &[&bin], "srv"),
            direct("node with options", &options, ""),
            direct("a relative script", &["node", relative], "app"),
            direct("env and node", &["env", "A=B", "node", relative], "app"),
            self.memory_case(
                "sh -c, replaced by node",
                &["sh", "-c", &format!("exec {bin}")],
                "",
                Launcher::Shell,
            ),
            self.memory_case("sh -c, forked", &["sh", "-c", &forks], "srv", Launcher::Shell),
        ];
        let devtools = format!("{DEVTOOLS} {}", self.devtools);
        let hidden = |what, line: &[&str], launcher| Case {
            package: devtools.clone(),
            ..self.memory_case(what, line, "app", launcher)
        };
        let main = "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js";
        let quiet = "--no-usage-statistics";
        cases.push(hidden("a title of its own", &["node", main, quiet], Launcher::Direct));
        cases.push(hidden(
            "a title of its own under npx",
            &["npx", DEVTOOLS, quiet],
            Launcher::Npx,
        ));
        cases.push(Case {
            package: "-".to_owned(),
            ..direct("a loose script of node", &["node", "loose.cjs"], "srv")
        });
        let bin = self.root.join(nvm_folder(&self.node)).join("bin");
        let managed = direct("a global package of nvm's node", &["mcp-server-memory"], "empty");
        cases.push(Case {
            executable: Some(bin.join("node")),
            path_first: Some(bin),
            ..managed
        });
        cases
    }

    fn uv_cases(&self) -> Vec<Case> {
        let exact = format!("{TIME}=={}", self.time);
        let uv = self.at("py/bin/uv");
        let case = |what, line: &[&str], launcher| Case {
            package: format!("{TIME} {}", self.time),
            executable: None,
            ..self.time_case(what, line, "empty", launcher)
        };
        vec![
            case("uvx, not from the tool", &["uvx", "--isolated", TIME], Launcher::Uvx),
            case("uvx", &["uvx", TIME], Launcher::Uvx),
            case("uvx --from", &["uvx", "--from", &exact, TIME], Launcher::Uvx),
            case("uv tool run", &[&uv, "tool", "run", TIME], Launcher::Uvx),
            case("uv tool install", &[&self.at("bin/mcp-server-time")], Launcher::Direct),
        ]
    }

    fn python_cases(&self) -> Vec<Case> {
        let python = self.at("py/bin/python");
        let script = self.at("py/bin/mcp-server-time");
        let fastmcp = self.at("fast/bin/fastmcp");
        let direct = |what, line: &[&str], cwd| self.time_case(what, line, cwd, Launcher::Direct);
        let options = [python.as_str(), "-u", "-X", "dev", "-Wignore", "-m", "mcp_server_time"];
        let nobody = |case: Case| Case {
            package: "-".to_owned(),
            ..case
        };
        vec![
            direct("python -m", &[&python, "-m", "mcp_server_time"], "empty"),
            direct("python -m with options", &options, "empty"),
            direct("python with a console script", &[&python, &script], "empty"),
            direct("python found on PATH", &["python", "-m", "mcp_server_time"], "empty"),
            direct("a console script by path", &[&script], "empty"),
            direct("a console script by PATH", &[TIME], "empty"),
            direct("a relative console script", &["./bin/mcp-server-time"], "py"),
            direct("env and a console script", &["env", "A=B", TIME], "empty"),
            self.time_case(
                "sh -c with a console script",
                &["sh", "-c", TIME],
                "empty",
                Launcher::Shell,
            ),
            nobody(direct("a loose script of python", &[&python, "loose.py"], "srv")),
            nobody(Case {
                path_first: None,
                executable: None,
                ..direct("python3 as it stands on PATH", &["python3", "loose.py"], "srv")
            }),
            Case {
                package: format!("fastmcp-slim {}", self.fastmcp_slim),
                executable: Some(self.root.join("fast/bin/python")),
                ..direct("fastmcp run", &[&fastmcp, "run", "three.py"], "srv")
            },
        ]
    }

    fn memory_case(&self, what: &'static str, line: &[&str], cwd: &str, launcher: Launcher) -> Case {
        Case {
            what,
            line: line.iter().map(ToString::to_string).collect(),
            cwd: self.root.join(cwd),
            path_first: None,
            package: format!(
                "{MEMORY} {}",
                if cwd == "empty" { &self.memory } else { &self.old_memory }
            ),
            runtime: format!("node {}", self.node),
            executable: None,
            launcher,
        }
    }

    fn time_case(&self, what: &'static str, line: &[&str], cwd: &str, launcher: Launcher) -> Case {
        Case {
            path_first: Some(self.root.join("py/bin")),
            package: format!("{TIME} {}", self.old_time),
            executable: Some(self.root.join("py/bin/python")),
            runtime: format!("python {}", self.python),
            ..self.memory_case(what, line, cwd, launcher)
        }
    }

    async fn start_and_identify(&self, case: &Case) -> Result<ProcessIdentity, String> {
        let mut env = environment(&self.root);
        if let Some(first) = &case.path_first {
            let path = std::env::var("PATH").unwrap_or_default();
            env.retain(|(name, _)| name != "PATH");
            env.push(("PATH".to_owned(), format!("{}:{path}", first.display())));
        }
        let command = Command {
            program: PathBuf::from(&case.line[0]),
            args: case.line[1..].to_vec(),
            env,
            cwd: case.cwd.clone(),
            owner: None,
        };
        let (sender, _receiver) = unbounded_channel();
        let sink = Sink::new(RowId(case.what.to_owned()), sender);
        let (mut server, pipes) = ServerProcess::spawn(&command, sink, 1).map_err(|problem| problem.problem)?;
        let answered = tokio::time::timeout(START_LIMIT, handshake(pipes)).await;
        let Ok(Some(pipes)) = answered else {
            let last = server.last_stderr_lines().join("\n    ");
            server.kill().await;
            return Err(format!("no handshake: {last}"));
        };
        let identity = identify(server.pid(), &command).await;
        server.shutdown(Some(pipes.stdin), Duration::from_secs(5)).await;
        Ok(identity)
    }

    fn at(&self, path: &str) -> String {
        self.root.join(path).to_string_lossy().into_owned()
    }
}
