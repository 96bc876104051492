//! Installing: once, anew, not at all, in vain, and interrupted.

use std::fs;

use super::machine::{Machine, node, npm, python};
use crate::event::{Seen, SkipReason};
use crate::plan::{Entry, InstallMode};

fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.row("demo", node("99"), |launch| launch.packages = vec![npm("demo-server")]);
    machine
}

const ROW: &str = "demo@node99";

#[tokio::test]
async fn a_package_is_installed_once_and_found_again() {
    let machine = machine();
    let first = machine.prepare().await;
    let ready = first.ready(ROW);
    assert!(ready.fresh);
    assert_eq!(first.installations(ROW), 1);
    assert_eq!(
        (ready.installed[0].name.as_str(), ready.installed[0].version.as_str()),
        ("demo-server", "1.0.0")
    );
    assert!(ready.lookup[0].ends_with("node_modules/.bin"));
    assert!(ready.lookup[0].starts_with(machine.path("state/packages")));
    assert_eq!(ready.path_first, [machine.path("bin")]);
    assert_eq!(ready.runtime.as_ref().unwrap().version.as_deref(), Some("99.1.0"));
    assert!(first.log(ROW).contains("added 1 package"), "{}", first.log(ROW));
    assert_eq!(fs::read_to_string(machine.path("state/.gitignore")).unwrap(), "*\n");

    let second = machine.prepare().await;
    assert!(!second.ready(ROW).fresh);
    assert_eq!(second.installations(ROW), 0);
    assert_eq!(second.ready(ROW).lookup, ready.lookup);
    assert_eq!(machine.runs(), 1);
}

#[tokio::test]
async fn npm_installs_into_a_project_of_its_own_under_the_rows_node() {
    let machine = machine();
    machine.npm_does("cat package.json; echo PATH is $PATH; exit 1");
    let log = machine.prepare().await.log(ROW);
    assert!(log.contains(r#"{"private":true}"#), "{log}");
    assert!(
        log.contains(&format!("PATH is {}", machine.path("bin").display())),
        "{log}"
    );
}

#[tokio::test]
async fn rows_with_the_same_packages_on_the_same_runtime_share_one_installation_and_are_both_fresh() {
    let mut machine = machine();
    machine.row("again", node("99"), |launch| launch.packages = vec![npm("demo-server")]);
    machine.row("other", node("99"), |launch| {
        launch.packages = vec![npm("other-server")];
    });
    let came = machine.prepare().await;
    assert_eq!(came.ready(ROW).lookup, came.ready("again@node99").lookup);
    assert_ne!(came.ready(ROW).lookup, came.ready("other@node99").lookup);
    assert!(came.ready(ROW).fresh && came.ready("again@node99").fresh);
    assert_eq!(machine.runs(), 2);
}

#[tokio::test]
async fn an_update_installs_anew_and_the_new_one_takes_over() {
    let mut machine = machine();
    let before = machine.prepare().await;
    machine.install_mode(InstallMode::Update);
    machine.npm_installs_version("2.0.0");
    let after = machine.prepare().await;
    assert_eq!(after.ready(ROW).installed[0].version, "2.0.0");
    assert!(after.ready(ROW).fresh);
    assert_ne!(after.ready(ROW).lookup, before.ready(ROW).lookup);
}

#[tokio::test]
async fn where_an_update_fails_the_earlier_installation_runs_and_says_so() {
    let mut machine = machine();
    machine.prepare().await;
    machine.install_mode(InstallMode::Update);
    machine.npm_does("mkdir node_modules; echo npm error code E404 >&2; echo npm error A complete log of this run can be found in: x >&2; exit 1");
    let came = machine.prepare().await;
    let ready = came.ready(ROW);
    assert!(!ready.fresh);
    assert_eq!(ready.installed[0].version, "1.0.0");
    let expected = Seen::InstallStale {
        what: "npm:demo-server".to_owned(),
        installed: "1.0.0".to_owned(),
        problem: "exit code 1: npm error code E404".to_owned(),
    };
    assert_eq!(came.seen(ROW), [&expected]);
}

#[tokio::test]
async fn a_failed_installation_fails_its_row_with_the_last_lines_and_no_other() {
    let mut machine = machine();
    machine.row("plain", node("99"), |_launch| {});
    machine.npm_does("echo npm error code E404 >&2; exit 1");
    let came = machine.prepare().await;
    assert!(came.failed(ROW));
    let [
        Seen::InstallFailed {
            what,
            problem,
            last_lines,
        },
    ] = came.seen(ROW)[..]
    else {
        panic!("{:?}", came.events);
    };
    assert_eq!((what.as_str(), problem.as_str()), ("npm:demo-server", "exit code 1"));
    assert_eq!(last_lines, &["npm error code E404"]);
    assert!(!came.ready("plain@node99").fresh);
}

#[tokio::test]
async fn never_only_looks() {
    let mut machine = machine();
    machine.install_mode(InstallMode::Never);
    let came = machine.prepare().await;
    assert_eq!(came.skip(ROW).reason, SkipReason::NotInstalled);
    assert!(came.skip(ROW).message.contains("npm:demo-server"));
    assert!(!machine.path("state").exists());

    machine.install_mode(InstallMode::Missing);
    machine.prepare().await;
    machine.install_mode(InstallMode::Never);
    assert!(!machine.prepare().await.ready(ROW).fresh);
}

#[tokio::test]
async fn two_runs_in_one_folder_install_once() {
    let machine = machine();
    let (one, other) = tokio::join!(machine.prepare(), machine.prepare());
    assert_eq!(one.ready(ROW).lookup, other.ready(ROW).lookup);
    assert_eq!(machine.runs(), 1);
}

#[tokio::test]
async fn an_installation_that_was_damaged_is_done_again() {
    let machine = machine();
    let first = machine.prepare().await;
    fs::remove_dir_all(first.ready(ROW).lookup[0].parent().unwrap()).unwrap();
    assert!(machine.prepare().await.ready(ROW).fresh);
    assert_eq!(machine.runs(), 2);
}

#[tokio::test]
async fn interrupting_ends_the_package_manager_and_leaves_nothing_that_looks_finished() {
    let machine = machine();
    machine.npm_does("mkdir node_modules; touch ROOT/begun; exec sleep 600");
    let begun = machine.path("begun");
    let cancel = machine.cancel.clone();
    let interrupt = async {
        while !begun.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        cancel.cancel();
    };
    let (came, ()) = tokio::join!(machine.prepare(), interrupt);
    assert_eq!(came.skip(ROW).reason, SkipReason::Interrupted);
    let places: Vec<_> = fs::read_dir(machine.path("state/packages")).unwrap().collect();
    assert_eq!(places.len(), 1);
    let place = places[0].as_ref().unwrap().path();
    assert_eq!(fs::read_dir(place).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_not_found_because_the_run_was_interrupted_is_not_called_missing() {
    let mut machine = machine();
    machine.row("bare", None, |launch| {
        launch.packages = vec![npm("demo-server")];
        launch.requires_host = Some("no-such-host.invalid".to_owned());
    });
    machine.cancel.cancel();
    let came = machine.prepare().await;
    for row in [ROW, "bare"] {
        assert_eq!(came.skip(row).reason, SkipReason::Interrupted);
    }
}

#[tokio::test]
async fn a_runtime_that_is_not_there_is_installed_from_npm_once() {
    let mut machine = Machine::new();
    machine.row("demo", node("98"), |_launch| {});
    // npm's package brings the binary; this one says the right version.
    machine.npm_does(
        r#"
        while [ "$1" != -- ]; do shift; done; shift
        echo "spec $1"
        folder=node_modules/${1%@98}/bin; mkdir -p $folder
        printf '#!/bin/sh\necho v98.7.0\n' > $folder/node; chmod +x $folder/node
        echo ran >> ROOT/runs
        "#,
    );
    let came = machine.prepare().await;
    let runtime = came.ready("demo@node98").runtime.clone().unwrap();
    assert_eq!(runtime.version.as_deref(), Some("98.7.0"));
    assert!(runtime.executable.starts_with(machine.path("state/runtimes")));
    assert!(
        came.log("demo@node98").contains("--ignore-scripts"),
        "{}",
        came.log("demo@node98")
    );
    machine.prepare().await;
    assert_eq!(machine.runs(), 1);
}

#[tokio::test]
async fn a_python_that_is_not_there_is_installed_by_uv_without_touching_the_users_folders() {
    let mut machine = Machine::bare();
    let uv = r#"#!/bin/sh
        echo "uv $* bin=$UV_PYTHON_INSTALL_BIN"
        folder=$UV_PYTHON_INSTALL_DIR/cpython-3.97.1-linux-x86_64-gnu/bin; mkdir -p $folder
        printf '#!/bin/sh\necho Python 3.97.1\n' > $folder/python3; chmod +x $folder/python3
    "#;
    machine.program("bin/uv", uv);
    machine.row("demo", python(">=3.97"), |_launch| {});
    let came = machine.prepare().await;
    let runtime = came.ready("demo@python").runtime.clone().unwrap();
    assert_eq!(runtime.version.as_deref(), Some("3.97.1"));
    assert!(runtime.executable.starts_with(machine.path("state/runtimes")));
    let log = came.log("demo@python");
    assert!(log.contains("uv python install >=3.97 bin=0"), "{log}");
}

#[tokio::test]
async fn a_runtime_that_cannot_be_installed_fails_its_rows_and_never_skips_to_another() {
    let mut machine = Machine::new();
    machine.row("demo", node("98"), |_launch| {});
    machine.row("good", node("99"), |_launch| {});
    machine.npm_does("echo npm error network >&2; exit 1");
    let came = machine.prepare().await;
    assert!(came.failed("demo@node98"));
    assert!(matches!(came.seen("demo@node98")[..], [Seen::InstallFailed { .. }]));
    came.ready("good@node99");
    machine.install_mode(InstallMode::Never);
    assert_eq!(
        machine.prepare().await.skip("demo@node98").reason,
        SkipReason::NotInstalled
    );
}

#[tokio::test]
async fn rows_of_a_package_and_of_several_runtimes_have_caches_of_their_own_and_others_the_users() {
    let mut machine = machine();
    machine.program("home/.nvm/versions/node/v97.2.0/bin/node", "#!/bin/sh\necho v97.2.0\n");
    machine.row("npx", node("99"), |_launch| {});
    machine.row("both", node("99"), |_launch| {});
    machine.row("both", node("97"), |_launch| {});
    let came = machine.prepare().await;
    let cache = |row: &str| came.ready(row).env.first().cloned();
    assert_eq!(cache("npx@node99"), None);
    let own = (
        "npm_config_cache".to_owned(),
        machine.path("state/caches/node-99.1.0/npm").display().to_string(),
    );
    assert_eq!(cache(ROW), Some(own.clone()));
    assert_eq!(cache("both@node99"), Some(own));
    assert!(cache("both@node97").unwrap().1.contains("node-97.2.0"));
}

#[tokio::test]
async fn rows_that_cannot_be_run_are_left_out() {
    let mut machine = machine();
    machine.plan.rows[0].entry = Entry::Disabled;
    assert!(machine.prepare().await.prepared.is_empty());
}
