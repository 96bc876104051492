//! What the launch commands stand on: programs run to their end, versions as the package managers tell them,
//! and the handshake with a server.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Instant;

use mcp_smoke::client::process::Pipes;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::MEMORY;

/// Asks and reads until the answer came; gives the pipes back, or nothing if the output ended.
pub(super) async fn handshake(pipes: Pipes) -> Option<Pipes> {
    let Pipes { mut stdin, stdout } = pipes;
    let ask = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#,
        "\n"
    );
    stdin.write_all(ask.as_bytes()).await.ok()?;
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    while reader.read_line(&mut line).await.ok()? > 0 {
        if line.contains("\"serverInfo\"") {
            let done = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
            stdin.write_all(done.as_bytes()).await.ok()?;
            return Some(Pipes {
                stdin,
                stdout: reader.into_inner(),
            });
        }
        line.clear();
    }
    None
}

/// A node in nvm's own folders, with a package that was installed by it globally.
pub(super) fn lay_out_nvm(root: &Path, version: &str) {
    let prefix = root.join(nvm_folder(version));
    fs::create_dir_all(prefix.join("bin")).unwrap();
    let real = run(root, &["node", "-p", "process.execPath"]);
    fs::copy(real.trim(), prefix.join("bin/node")).unwrap();
    run(
        root,
        &["npm", "install", "-g", "--prefix", &prefix.to_string_lossy(), MEMORY],
    );
}

pub(super) fn nvm_folder(version: &str) -> String {
    format!("nvm/versions/node/v{version}")
}

pub(super) fn npm_version(root: &Path, place: &[&str], name: &str) -> String {
    let listed = run(root, &[&["npm", "ls", "--json", "--depth=0"], place].concat());
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    listed["dependencies"][name]["version"].as_str().unwrap().to_owned()
}

pub(super) fn pypi_version(root: &Path, environment: &str, name: &str) -> String {
    let python = root.join(environment).join("bin/python").to_string_lossy().into_owned();
    let code = format!("import importlib.metadata as m; print(m.version('{name}'))");
    run(root, &[&python, "-c", &code]).trim().to_owned()
}

/// The whole environment (certificates, proxies), with caches and tool folders of our own.
pub(super) fn environment(root: &Path) -> Vec<(String, String)> {
    let own = [
        ("npm_config_cache", "npm-cache"),
        ("UV_CACHE_DIR", "uv-cache"),
        ("UV_TOOL_DIR", "tools"),
        ("UV_TOOL_BIN_DIR", "bin"),
        ("MEMORY_FILE_PATH", "memory.jsonl"),
    ];
    let quiet = [
        ("FASTMCP_CHECK_FOR_UPDATES", "off"),
        ("FASTMCP_SHOW_SERVER_BANNER", "false"),
        ("CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS", "1"),
    ];
    let mut variables: Vec<(String, String)> = std::env::vars().collect();
    variables.extend(own.map(|(name, folder)| (name.to_owned(), root.join(folder).to_string_lossy().into_owned())));
    variables.extend(quiet.map(|(name, value)| (name.to_owned(), value.to_owned())));
    variables
}

/// Runs a program to its end and gives its standard output.
pub(super) fn run(cwd: &Path, line: &[&str]) -> String {
    let root = cwd
        .ancestors()
        .find(|folder| folder.join("app").is_dir())
        .unwrap_or(cwd);
    let started = Instant::now();
    let mut command = std::process::Command::new(line[0]);
    command.args(&line[1..]).current_dir(cwd).envs(environment(root));
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{line:?}: {error}"));
    println!("{:.1} s: {}", started.elapsed().as_secs_f64(), line.join(" "));
    assert!(status.success(), "{line:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
