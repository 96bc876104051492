//! Selection, figures, placeholders and masks, from manifest to plan.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::{
    Ecosystem, Entry, Environment, Fixtures, Flags, Launch, Needs, Plan, PlanError, Protocol, Row, RuntimeKind,
    Template,
};
use crate::finding::{Code, SeverityChoice};
use crate::manifest::Manifest;

mod masks;

const FLEET: &str = r#"
[runtimes.node20]
node = "20"
[runtimes.node24]
node = "24"
[servers.files]
command = "files"
runtimes = ["node20", "node24"]
tags = ["reference"]
[servers.memory]
command = "memory"
runtimes = ["node24"]
tags = ["reference", "quick"]
[servers.time]
command = "time"
"#;

fn environment() -> Environment {
    let variables = [
        ("HOME", "/home/someone"),
        ("PATH", "/usr/bin:/bin"),
        ("SET_TOKEN", "s3cr3t-value"),
        ("EMPTY", ""),
        ("USER_WORD", "memory"),
    ];
    Environment {
        variables: variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        current_dir: PathBuf::from("/fleet"),
        executable: PathBuf::from("/opt/mcp-smoke"),
        cores: 4,
        clock_seed: 7,
    }
}

fn plan_with(text: &str, flags: &Flags, environment: &Environment) -> Plan {
    let manifest = Manifest::parse(text, Path::new("servers.toml")).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Plan::make(&manifest, Path::new("sub/servers.toml"), flags, environment).expect("a plan")
}

fn plan(text: &str) -> Plan {
    plan_with(text, &Flags::default(), &environment())
}

/// A row made of these lines of its server.
fn row(lines: &str) -> Row {
    plan(&format!("[servers.a]\ncommand = \"x\"\n{lines}")).rows.remove(0)
}

fn launch(lines: &str) -> Launch {
    let row = row(lines);
    row.launch().unwrap_or_else(|| panic!("{:?}", row.entry)).clone()
}

fn problems(lines: &str) -> Vec<(String, String)> {
    match row(lines).entry {
        Entry::Unusable(problems) => problems
            .into_iter()
            .map(|problem| (problem.field, problem.problem))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn selection(selectors: &[&str]) -> Result<Vec<String>, PlanError> {
    let manifest = Manifest::parse(FLEET, Path::new("servers.toml")).expect("a good manifest");
    let flags = Flags {
        selectors: selectors.iter().map(|&selector| selector.to_owned()).collect(),
        ..Flags::default()
    };
    let plan = Plan::make(&manifest, Path::new("servers.toml"), &flags, &environment())?;
    Ok(plan.rows.into_iter().map(|row| row.id.0).collect())
}

#[test]
fn selectors_pick_and_leave_out_rows() {
    let all = ["files@node20", "files@node24", "memory@node24", "time"];
    let cases: [(&[&str], &[&str]); 9] = [
        (&[], &all),
        (&["files"], &all[..2]),
        (&["files@node20"], &all[..1]),
        (&["*@node24"], &all[1..3]),
        (&["m*", "time"], &all[2..]),
        (&["tag:reference"], &all[..3]),
        (&["!files"], &all[2..]),
        (&["tag:reference", "!*@node20"], &all[1..3]),
        (&["time", "files@node20"], &["files@node20", "time"]),
    ];
    for (selectors, expected) in cases {
        assert_eq!(selection(selectors).expect("rows"), expected, "{selectors:?}");
    }
}

#[test]
fn a_selector_that_matches_nothing_names_the_nearest() {
    let nearest = |selector: &str| match selection(&[selector]).expect_err("no row") {
        PlanError::NothingMatches { closest, rows, .. } => {
            assert_eq!(rows.len(), 4);
            closest
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("memori").as_deref(), Some("memory"));
    assert_eq!(nearest("files@node22").as_deref(), Some("files@node20"));
    assert_eq!(nearest("tag:referense").as_deref(), Some("tag:reference"));
    assert_eq!(nearest("quick").as_deref(), Some("tag:quick"));
    assert_eq!(nearest("!tme").as_deref(), Some("time"));
    assert_eq!(nearest("elephant*"), None);
    let problem = selection(&["memori"]).expect_err("no row");
    assert_eq!(problem.to_string(), "no row matches `memori`; did you mean `memory`?");
    assert!(problem.hint().expect("a hint").contains("files@node20"));
    assert_eq!(selection(&["time", "!t*"]), Err(PlanError::NothingLeft));
    assert!(matches!(selection(&["[a"]), Err(PlanError::BadGlob { .. })));
}

#[test]
fn figures_come_from_the_server_then_the_defaults_then_the_design() {
    let plan = plan(
        "[defaults]\ncalls = 5\nlist_timeout = \"7s\"\n[servers.a]\ncommand = \"x\"\nrepeats = 3\nprobes = [{ tool = \"t\" }]\n[servers.b]\ncommand = \"x\"\ncalls = 6\nprobes = [{ tool = \"t\", timeout = \"9s\" }]\n",
    );
    let [first, second] = plan.rows.as_slice() else {
        panic!("two rows")
    };
    let (first, second) = (first.launch().expect("a launch"), second.launch().expect("a launch"));
    assert_eq!((first.probes[0].calls, first.repeats, first.cold_starts), (5, 3, 1));
    assert_eq!((second.probes[0].calls, second.repeats), (6, 1));
    assert_eq!(
        (first.probes[0].timeout, second.probes[0].timeout),
        (Duration::from_secs(30), Duration::from_secs(9))
    );
    assert_eq!(first.limits.list, Duration::from_secs(7));
    assert_eq!(first.limits.startup, Duration::from_mins(1));
    assert_eq!(first.limits.shutdown_grace, Duration::from_secs(2));
    assert_eq!(first.limits.row, Duration::from_mins(10));
    assert_eq!(
        (plan.settings.jobs, plan.settings.keep_runs, plan.settings.seed),
        (1, 60, 7)
    );
}

#[test]
fn flags_set_figures_and_never_raise_what_a_probe_says() {
    let text = "[servers.a]\ncommand = \"x\"\ncalls = 50\nprobes = [{ tool = \"open\" }, { tool = \"ten\", calls = 10, warmup = 2 }, { tool = \"once\", calls = 1, warmup = 3 }]\n[defaults]\nwarmup = 4\n";
    let figures = |flags: Flags| -> Vec<(u32, u32)> {
        let plan = plan_with(text, &flags, &environment());
        plan.rows[0]
            .launch()
            .expect("a launch")
            .probes
            .iter()
            .map(|probe| (probe.calls, probe.warmup))
            .collect()
    };
    assert_eq!(figures(Flags::default()), [(50, 4), (10, 2), (1, 0)]);
    let calls = |calls| Flags {
        calls: Some(calls),
        ..Flags::default()
    };
    assert_eq!(figures(calls(20)), [(20, 4), (10, 2), (1, 0)]);
    assert_eq!(figures(calls(3)), [(3, 4), (3, 2), (1, 0)]);
    assert_eq!(
        figures(Flags {
            warmup: Some(9),
            ..Flags::default()
        }),
        [(50, 9), (10, 2), (1, 0)]
    );
    assert_eq!(
        figures(Flags {
            warmup: Some(0),
            ..Flags::default()
        }),
        [(50, 0), (10, 0), (1, 0)]
    );
    let smoke = Flags {
        smoke: true,
        ..Flags::default()
    };
    assert_eq!(figures(smoke.clone()), [(1, 0), (1, 0), (1, 0)]);
    assert_eq!(plan_with(text, &smoke, &environment()).settings.jobs, 4);
    let flags = Flags {
        repeats: Some(2),
        cold_starts: Some(5),
        jobs: Some(3),
        seed: Some(9),
        ..Flags::default()
    };
    let plan = plan_with(text, &flags, &environment());
    let launch = plan.rows[0].launch().expect("a launch");
    assert_eq!(
        (
            launch.repeats,
            launch.cold_starts,
            plan.settings.jobs,
            plan.settings.seed
        ),
        (2, 5, 3, 9)
    );
    assert_eq!(plan.settings.flags["jobs"], json!(3));
    assert_eq!(plan.settings.flags.len(), 4);
}

#[test]
fn placeholders_of_the_environment_become_text_and_fixtures_stay() {
    let launch = launch(
        "args = [\"${env:SET_TOKEN}\", \"${env:UNSET:-https://api.example.com}\", \"${env:EMPTY:-filled}\", \"${workspace}/x\", \"${self}\", \"$USER $5 $${a}\"]\nenv = { DIR = \"${manifest_dir}/data\", PORT = \"${port}\" }\n",
    );
    let filled: Vec<String> = launch
        .args
        .iter()
        .map(|arg| {
            arg.fill(&Fixtures {
                workspace: Some("/w".into()),
                ..Fixtures::default()
            })
        })
        .collect();
    assert_eq!(
        filled,
        [
            "s3cr3t-value",
            "https://api.example.com",
            "filled",
            "/w/x",
            "/opt/mcp-smoke",
            "$USER $5 ${a}"
        ]
    );
    assert_eq!(launch.env[0], ("DIR".to_owned(), Template::literal("/fleet/sub/data")));
    assert_eq!(
        launch.needs,
        Needs {
            workspace: true,
            port: true,
            ..Needs::default()
        }
    );
}

#[test]
fn every_unset_variable_makes_its_row_unusable_with_its_field() {
    let found = problems(
        "args = [\"a\", \"b\", \"c\", \"${env:NOT_SET}\"]\nenv = { TRACKER_API_TOKEN = \"${env:TRACKER_API_TOKEN}\" }\n[servers.a.expect]\nname = \"${env:NAME_NOT_SET}\"\n",
    );
    let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["expect.name", "args[3]", "env.TRACKER_API_TOKEN"]);
    assert_eq!(found[2].1, "the environment variable TRACKER_API_TOKEN is not set");
}

#[test]
fn the_other_rows_run_where_one_cannot_be_used() {
    let plan = plan(
        "[servers.a]\ncommand = \"x\"\nenv = { K = \"${env:SURELY_NOT_SET_7}\" }\n[servers.b]\ncommand = \"x\"\n[servers.c]\ncommand = \"x\"\nenabled = false\ncwd = \"${env:NOT_SET}\"\n",
    );
    assert!(matches!(plan.rows[0].entry, Entry::Unusable(_)));
    assert!(matches!(plan.rows[1].entry, Entry::Run(_)));
    assert!(matches!(plan.rows[2].entry, Entry::Disabled));
    assert_eq!((plan.rows[0].line, plan.rows[1].line), (1, 4));
}

#[test]
fn a_tilde_stands_for_the_home_folder_at_the_start_only() {
    let launch =
        launch("args = [\"~/a\", \"~\", \"x~\", \"~other/b\", \"--dir=~/c\", \"~/${workspace}\"]\ncwd = \"~\"\n");
    let filled: Vec<String> = launch.args.iter().map(|arg| arg.fill(&Fixtures::default())).collect();
    assert_eq!(
        filled,
        [
            "/home/someone/a",
            "/home/someone",
            "x~",
            "~other/b",
            "--dir=~/c",
            "/home/someone/"
        ]
    );
    assert_eq!(launch.cwd.as_literal(), Some("/home/someone"));
    let text = "[servers.a]\ncommand = \"~/server\"\n";
    assert_eq!(
        plan(text).rows[0].launch().expect("a launch").command.as_literal(),
        Some("/home/someone/server")
    );
    let homeless = Environment {
        variables: BTreeMap::new(),
        ..environment()
    };
    assert!(matches!(
        plan_with(text, &Flags::default(), &homeless).rows[0].entry,
        Entry::Unusable(_)
    ));
}

#[test]
fn the_working_directory_is_taken_from_the_manifests_folder() {
    let cwd = |lines: &str| {
        launch(lines).cwd.fill(&Fixtures {
            workspace: Some("/w".into()),
            ..Fixtures::default()
        })
    };
    assert_eq!(cwd(""), "/fleet/sub");
    assert_eq!(cwd("cwd = \"./sub dir\"\n"), "/fleet/sub/sub dir");
    assert_eq!(cwd("cwd = \"/abs\"\n"), "/abs");
    assert_eq!(cwd("cwd = \"${workspace}/in\"\n"), "/w/in");
}

#[test]
fn an_env_file_gives_variables_that_env_may_override() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("vars"),
        "\u{feff}# comment\r\nTOKEN='from-file-1'\r\nexport OTHER=\"two words\"\r\nMODE=production\r\n",
    )
    .expect("a file");
    let environment = Environment {
        current_dir: folder.path().to_path_buf(),
        ..environment()
    };
    let manifest = "[servers.a]\ncommand = \"x\"\nenv_file = \"vars\"\nenv = { OTHER = \"own\" }\n";
    let parsed = Manifest::parse(manifest, Path::new("servers.toml")).expect("a good manifest");
    let plan = Plan::make(&parsed, Path::new("servers.toml"), &Flags::default(), &environment).expect("a plan");
    let expected = [("TOKEN", "from-file-1"), ("MODE", "production"), ("OTHER", "own")];
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Template::literal(*value)))
        .collect();
    assert_eq!(plan.rows[0].launch().expect("a launch").env, expected);
    assert_eq!(
        plan.mask.apply("from-file-1 two words production own"),
        "*** *** production own"
    );
}

#[test]
fn an_env_file_that_is_missing_or_broken_makes_the_row_unusable() {
    let found = problems("env_file = \"no-such-file\"\n");
    assert_eq!(
        found,
        [(
            "env_file".to_owned(),
            "/fleet/sub/no-such-file cannot be read: there is no such file".to_owned()
        )]
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vars");
    fs::write(&file, "GOOD=1\nthis is a hidden secret\n").expect("a file");
    let found = problems(&format!("env_file = {:?}\n", file.display().to_string()));
    assert!(
        found[0].1.contains("not NAME=value") && !found[0].1.contains("hidden"),
        "{found:?}"
    );
}

#[test]
fn expectations_of_a_runtime_override_the_general_ones() {
    let text = "[runtimes.n20]\nnode = \"20\"\n[runtimes.py]\npython = \">=3.10\"\n[servers.a]\ncommand = \"x\"\nruntimes = [\"n20\", \"py\"]\nexpect = { version = \"^2\", tool_count = 14, tools = [\"one\"] }\nexpect_on.n20 = { version = \"^1\" }\n";
    let plan = plan(text);
    let seen: Vec<_> = plan
        .rows
        .iter()
        .map(|row| {
            (
                row.expect.version.as_deref(),
                row.expect.tool_count,
                row.expect.tools.len(),
            )
        })
        .collect();
    assert_eq!(seen, [(Some("^1"), Some(14), 1), (Some("^2"), Some(14), 1)]);
    let runtime = plan.rows[1].runtime.as_ref().expect("a runtime");
    assert_eq!((runtime.kind, runtime.range.as_str()), (RuntimeKind::Python, ">=3.10"));
}

#[test]
fn severities_of_a_server_win_over_those_of_the_manifest() {
    let row = row("severity = { held-back = \"note\" }\n[severity]\nheld-back = \"ignore\"\ntool-added = \"warn\"\n");
    let expected = [
        (Code::HeldBack, SeverityChoice::Note),
        (Code::ToolAdded, SeverityChoice::Warn),
    ];
    assert_eq!(row.severity, BTreeMap::from(expected));
}

#[test]
fn programs_that_nothing_declares_are_looked_up_under_their_own_name() {
    let plan = plan(
        "[servers.a]\ncommand = \"x\"\nrequires = [\"git\"]\n[[requires]]\nprogram = \"chromium\"\nany_of = [\"msedge\"]\n",
    );
    assert_eq!(plan.programs["git"].any_of, ["git"]);
    assert_eq!(plan.programs["chromium"].any_of, ["msedge"]);
}

#[test]
fn keys_that_are_not_acted_on_yet_are_named() {
    let plan = plan(
        "[servers.a]\ncommand = \"x\"\nretries = 2\nconcurrency = 2\n[servers.b]\nurl = \"https://h/mcp\"\ntransport = \"sse\"\n",
    );
    assert_eq!(plan.not_yet, ["servers.b.url", "servers.b.transport"]);
    assert!(matches!(&plan.rows[1].entry, Entry::Remote(url) if url == "https://h/mcp"));
}

#[test]
fn packages_protocols_and_patterns_arrive_resolved() {
    let launch = launch(
        "package = [\"npm:@s/n@${env:UNSET:-^1}\", \"pypi:p\"]\nprotocol = \"2025-06-18\"\nprobes = [{ tool = \"t\", expect = { matches = \"^${env:UNSET:-a.b}$\" } }]\n",
    );
    let first = &launch.packages[0];
    assert_eq!(
        (
            first.ecosystem,
            first.name.as_str(),
            first.wanted.as_str(),
            first.spec.as_str()
        ),
        (Ecosystem::Npm, "@s/n", "^1", "@s/n@^1")
    );
    assert_eq!(launch.packages[1].wanted, "*");
    assert_eq!(launch.protocol, Protocol::Revision("2025-06-18".to_owned()));
    assert_eq!(launch.probes[0].expect.matches.as_deref(), Some(r"^a\.b$"));
    assert_eq!(launch.probes[0].name, "t");
    let found = problems("package = \"npm:${env:UNSET:-not a name}\"\n");
    assert_eq!(found[0].0, "package");
}
