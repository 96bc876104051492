//! What is masked, and what must stay readable.

use super::plan;

/// What the mask of a server with these lines leaves of a text.
#[track_caller]
fn masks(lines: &str, text: &str, expected: &str) {
    let plan = plan(&format!("[servers.memory]\ncommand = \"npx\"\n{lines}"));
    assert_eq!(plan.mask.apply(text), expected, "{lines}");
}

#[test]
fn secrets_are_masked_by_value() {
    masks("args = [\"${env:SET_TOKEN}\"]\n", "got s3cr3t-value!", "got ***!");
    masks(
        "env = { API_KEY = \"abcdef\", OTHER = \"ghijkl\" }\n",
        "abcdef ghijkl",
        "*** ghijkl",
    );
    masks(
        "args = [\"--api-key\", \"abcdef\", \"--name\", \"ghijkl\"]\n",
        "abcdef ghijkl",
        "*** ghijkl",
    );
    masks(
        "args = [\"--api-key=abcdef\", \"-e\", \"X_TOKEN=uvwxyz\"]\n",
        "abcdef uvwxyz",
        "*** ***",
    );
    masks(
        "args = [\"-H\", \"Authorization: Bearer abcdef\"]\n",
        "abcdef Bearer abcdef",
        "*** ***",
    );
    masks(
        "args = [\"postgres://me:hunter22@db/x\"]\n",
        "hunter22 at db",
        "*** at db",
    );
    masks(
        "env = { MCP = \"https://h/mcp?token=abcdef&x=ghijkl\" }\n",
        "abcdef ghijkl",
        "*** ***",
    );
    masks(
        "probes = [{ tool = \"t\", arguments = { api_key = \"abcdef\", key = \"note-1\" } }]\n",
        "abcdef note-1",
        "*** note-1",
    );
    masks(
        "env = { PRIVATE_KEY = \"\"\"first-line\nsecond-line\"\"\" }\n",
        "first-line | second-line",
        "*** | ***",
    );
    let text = "[servers.a]\nurl = \"https://h/mcp\"\nheaders = { X-Tenant = \"tenant-77\" }\n";
    assert_eq!(plan(text).mask.apply("tenant-77"), "***");
}

#[test]
fn what_a_server_inherits_by_a_telling_name_is_masked() {
    masks(
        "env_pass = [\"SET_TOKEN\", \"PATH\"]\n",
        "s3cr3t-value /usr/bin:/bin",
        "*** /usr/bin:/bin",
    );
    masks("inherit_env = \"all\"\n", "s3cr3t-value", "***");
    masks("", "s3cr3t-value", "s3cr3t-value");
}

#[test]
fn masking_never_eats_ordinary_words() {
    for (lines, text) in [
        ("env = { API_KEY = \"${env:USER_WORD}\" }\n", "memory@node24 passed"),
        (
            "args = [\"${env:HOME}\", \"${env:PATH}\"]\n",
            "/home/someone/x /usr/bin:/bin",
        ),
        (
            "env = { AUTH_ENABLED = \"enabled\", SECRET = \"production\", TOKEN = \"------\" }\n",
            "enabled production ------",
        ),
        ("env = { PASSWORD = \"server-died\" }\n", "server-died"),
        (
            "env = { KEY_FILE = \"secret-name.pem\", AUTHOR = \"someone\" }\n",
            "secret-name.pem someone",
        ),
        (
            "args = [\"--max-tokens\", \"100000\", \"--auth-type\", \"custom-1\"]\n",
            "100000 custom-1",
        ),
        (
            "args = [\"--no-auth\", \"--verbose\", \"value-1\"]\n",
            "--verbose value-1",
        ),
        ("env = { TOKEN = \"abc\" }\n", "abc"),
        (
            "env = { API_BASE = \"${env:UNSET:-https://api.example.com}\" }\n",
            "https://api.example.com",
        ),
    ] {
        masks(lines, text, text);
    }
}
