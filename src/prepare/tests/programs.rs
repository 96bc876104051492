//! Programs, hosts and browsers that rows require.

use super::machine::{Machine, python};
use crate::event::SkipReason;
use crate::plan::Program;

fn program(name: &str, any_of: &[&str]) -> Program {
    Program {
        name: name.to_owned(),
        any_of: any_of.iter().map(|&name| name.to_owned()).collect(),
        hint: None,
        install: Vec::new(),
    }
}

#[tokio::test]
async fn any_of_a_programs_names_will_do_and_a_missing_one_skips_with_its_hint() {
    let mut machine = Machine::bare();
    machine.program("bin/second-name", "#!/bin/sh\n");
    machine.programs(program("there", &["first-name", "second-name"]));
    machine.programs(Program {
        hint: Some("get it".to_owned()),
        ..program("absent", &["no-such-program"])
    });
    machine.row("good", None, |launch| {
        launch.requires = vec!["there".to_owned(), "second-name".to_owned()];
    });
    machine.row("bad", None, |launch| {
        launch.requires = vec!["there".to_owned(), "absent".to_owned()];
    });
    machine.row("unknown", None, |launch| {
        launch.requires = vec!["no-such-program".to_owned()];
    });
    let came = machine.prepare().await;
    came.ready("good");
    let skip = came.skip("bad");
    assert_eq!(skip.reason, SkipReason::ProgramMissing);
    assert!(skip.message.contains("no-such-program"), "{}", skip.message);
    assert_eq!(skip.cure.as_deref(), Some("get it"));
    let cure = came.skip("unknown").cure.clone().unwrap();
    assert!(cure.contains("no-such-program"), "{cure}");
}

#[tokio::test]
async fn without_a_hint_the_cure_is_what_would_be_run_and_nothing_is_run_unasked() {
    let mut machine = Machine::bare();
    let tool = machine.path("bin/tool");
    machine.programs(Program {
        install: vec![
            vec!["echo".to_owned(), "fetching it".to_owned()],
            vec![
                "ln".to_owned(),
                "-s".to_owned(),
                "/bin/sh".to_owned(),
                tool.display().to_string(),
            ],
        ],
        ..program("tool", &["tool"])
    });
    machine.row("demo", None, |launch| launch.requires = vec!["tool".to_owned()]);
    machine.program("bin/something", "#!/bin/sh\n");
    let cure = machine.prepare().await.skip("demo").cure.clone().unwrap();
    assert_eq!(cure, format!("echo 'fetching it' && ln -s /bin/sh {}", tool.display()));

    machine.plan.settings.install_programs = true;
    let came = machine.prepare().await;
    came.ready("demo");
    assert!(came.log("demo").contains("fetching it"));
}

#[tokio::test]
async fn an_installation_of_a_program_that_fails_is_told_in_the_skip() {
    let mut machine = Machine::bare();
    machine.plan.settings.install_programs = true;
    machine.programs(Program {
        install: vec![vec![
            "sh".to_owned(),
            "-c".to_owned(),
            "echo not root >&2; exit 100".to_owned(),
        ]],
        ..program("tool", &["no-such-program"])
    });
    machine.row("demo", None, |launch| launch.requires = vec!["tool".to_owned()]);
    let skip = machine.prepare().await.skip("demo").clone();
    assert!(skip.message.contains("exit code 100 (not root)"), "{}", skip.message);
}

#[tokio::test]
async fn a_host_that_has_no_address_skips_as_offline() {
    let mut machine = Machine::bare();
    machine.row("offline", None, |launch| {
        launch.requires_host = Some("no-such-host.invalid".to_owned());
    });
    machine.row("online", None, |launch| {
        launch.requires_host = Some("127.0.0.1".to_owned());
    });
    let came = machine.prepare().await;
    assert_eq!(came.skip("offline").reason, SkipReason::Offline);
    came.ready("online");
}

#[tokio::test]
async fn a_row_that_needs_a_browser_gets_one_or_is_skipped_with_the_command_that_installs_it() {
    let mut machine = Machine::bare();
    machine.environment = machine.environment.clone().with("PATH", machine.path("bin"));
    machine.programs(Program {
        install: vec![vec!["apt-get".to_owned(), "install".to_owned(), "chromium".to_owned()]],
        ..program("browser", &["chromium"])
    });
    machine.row("browse", None, |launch| launch.needs.browser = true);
    let came = machine.prepare().await;
    assert_eq!(came.skip("browse").reason, SkipReason::ProgramMissing);
    assert_eq!(came.skip("browse").cure.as_deref(), Some("apt-get install chromium"));

    let chromium = machine.program("bin/chromium", "#!/bin/sh\necho Chromium 156\n");
    assert_eq!(machine.prepare().await.ready("browse").browser, Some(chromium));
}

#[tokio::test]
async fn a_repository_needs_git() {
    let mut machine = Machine::bare();
    machine.environment = machine.environment.clone().with("PATH", machine.path("bin"));
    machine.row("git", None, |launch| launch.needs.git_repo = true);
    assert_eq!(machine.prepare().await.skip("git").reason, SkipReason::ProgramMissing);
}

#[tokio::test]
async fn a_python_that_nothing_can_install_skips_with_its_cure() {
    let mut machine = Machine::bare();
    machine.environment = machine.environment.clone().with("PATH", machine.path("bin"));
    machine.row("py", python(">=3.99"), |_launch| {});
    let skip = machine.prepare().await.skip("py@python").clone();
    assert_eq!(skip.reason, SkipReason::ProgramMissing);
    assert!(skip.cure.unwrap().contains("uv"));
}
