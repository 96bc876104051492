//! Each hint with the evidence that brings it.

use crate::judge::fixtures::launch;
use crate::judge::hints::{from_launch, from_stderr};

fn hint_of(lines: &[&str]) -> Option<String> {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    from_stderr(&lines, Some(&launch("server", &[])))
}

#[test]
fn a_hint_is_given_where_the_evidence_is_plain_and_nowhere_else() {
    for (line, word) in [
        (
            "Need to install the following packages: x. Ok to proceed? (y)",
            "npx -y",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
            "docker daemon",
        ),
        ("Error: listen EADDRINUSE: address already in use :::3000", "${port}"),
        ("npm error code ENOTEMPTY", "cache"),
        (
            "ModuleNotFoundError: No module named 'mcp.server.fastmcp'",
            "`mcp.server.fastmcp`",
        ),
        (
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from x",
            "`zod`",
        ),
        (
            "error: PROBE_API_KEY is not set",
            "name `PROBE_API_KEY` in the row's `env_pass`",
        ),
        ("Fatal error: could not set lock on file: /x", "lock"),
        ("npm error code E404", "registry"),
        ("error: invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"),
        ("ReferenceError: File is not defined", "`runtimes`"),
        ("Error: getaddrinfo EAI_AGAIN api.example.com", "proxy"),
    ] {
        let hint = hint_of(&[line]).unwrap_or_default();
        assert!(hint.contains(word), "{line}: {hint}");
    }
    assert_eq!(hint_of(&["something went wrong"]), None);
    assert_eq!(hint_of(&["listening on PORT_A"]), None);
    assert_eq!(hint_of(&["Error: code ERR_INVALID_ARG is required"]), None);
}

#[test]
fn a_variable_that_the_row_already_gives_is_not_asked_for() {
    let mut given = launch("server", &[]);
    given.env_pass.push("PROBE_API_KEY".to_owned());
    assert_eq!(
        from_stderr(&["PROBE_API_KEY is not set".to_owned()], Some(&given)),
        None
    );
}

#[test]
fn docker_run_without_i_is_told() {
    let hint = |args: &[&str]| from_launch(Some(&launch("/usr/bin/docker", args)));
    assert_eq!(
        hint(&["run", "--rm", "image"]).as_deref(),
        Some("docker run without `-i` gives the server no stdin: add `-i`")
    );
    for args in [
        &["run", "-i", "image"][..],
        &["run", "--rm", "-it", "image"],
        &["run", "--interactive", "image"],
        &["ps"],
    ] {
        assert_eq!(hint(args), None, "{args:?}");
    }
    assert_eq!(from_launch(Some(&launch("node", &["run"]))), None);
}
