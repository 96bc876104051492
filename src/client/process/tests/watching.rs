//! stderr, the live tree, memory and CPU time.

use super::*;
use crate::client::process::live_tree;

#[tokio::test]
async fn five_megabytes_on_stderr_block_nobody_and_head_and_tail_are_kept() {
    let mut server =
        Server::shell("yes 123456789 | head -c 5000000 >&2; echo 'the end' >&2; echo done; cat >/dev/null");
    assert_eq!(server.line().await, "done");
    eventually("the last line was read", || {
        server
            .process
            .last_stderr_lines()
            .last()
            .is_some_and(|line| line == "the end")
    })
    .await;
    server.shutdown(LONG).await;
    let lines = server.logged();
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let [before, after] = &texts.split(|text| text.starts_with('…')).collect::<Vec<_>>()[..] else {
        panic!("one line says what is missing");
    };
    let kept = (before.len() + after.len() - 1) * 10 + "the end\n".len();
    let mark = format!("… {} bytes left out …", 5_000_008 - kept);
    assert!(texts.contains(&mark.as_str()), "{:?}", texts.get(before.len()));
    assert_eq!(after.last(), Some(&"the end"));
    assert!(kept <= 128 * 1024, "{kept}");
    assert!(lines.iter().all(|line| line.session == 1 && line.at > Duration::ZERO));
}

#[tokio::test]
async fn stderr_is_read_on_after_stdout_was_closed() {
    let mut server = Server::shell("exec >&-; yes | head -c 300000 >&2; echo last >&2; exit 4");
    let ending = timeout(LIMIT, server.process.wait()).await.expect("it is not blocked");
    assert_eq!(
        (ending.code, ending.last_lines.last().map(String::as_str)),
        (Some(4), Some("last"))
    );
}

#[tokio::test]
async fn the_first_lines_are_logged_while_the_server_runs() {
    let mut server = Server::shell("echo running on stdio >&2; cat >/dev/null");
    let mut seen = Vec::new();
    eventually("the line is in the log", || {
        seen.extend(server.logged());
        !seen.is_empty()
    })
    .await;
    assert_eq!(seen[0].text, "running on stdio");
    server.shutdown(LONG).await;
}

#[tokio::test]
async fn children_of_every_thread_are_found() {
    let script = "import subprocess, sys, threading
def work():
    child = subprocess.Popen(['sleep', '97'])
    print(child.pid, flush=True)
    child.wait()
threading.Thread(target=work, daemon=True).start()
sys.stdin.read()";
    let mut server = Server::python(script);
    let child = server.pid().await;
    // Python has the pid of its child a moment before that has become another program.
    let mut tree = Vec::new();
    eventually("the child runs its program", || {
        tree = live_tree(server.process.pid());
        tree.iter()
            .any(|process| process.pid == child && process.command_line == ["sleep", "97"])
    })
    .await;
    assert_eq!(tree[0].pid, server.process.pid());
    assert_eq!(tree[0].command_line.last().map(String::as_str), Some(script));
    assert_eq!(tree[0].cwd, std::env::temp_dir().canonicalize().ok());
    let process = tree
        .iter()
        .find(|process| process.pid == child)
        .expect("it was just there");
    assert_eq!(process.parent, Some(server.process.pid()));
    assert!(process.executable.as_ref().is_some_and(|file| file.is_absolute()));
    server.process.kill().await;
    assert!(live_tree(server.process.pid()).is_empty());
}

#[tokio::test]
async fn zombies_are_not_in_the_tree() {
    let mut server = Server::python(
        "import os, sys
child = os.fork()
if child == 0: os._exit(0)
print(child, flush=True)
sys.stdin.read()",
    );
    let child = server.pid().await;
    eventually("the child is a zombie", || {
        Table::read().entry(child).is_some_and(|process| process.zombie)
    })
    .await;
    assert!(
        live_tree(server.process.pid())
            .iter()
            .all(|process| process.pid != child)
    );
    let facts = server.shutdown(LONG).await;
    assert!(facts.survivors.is_empty(), "{facts:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_and_cpu_time_are_those_of_the_whole_tree() {
    let script = "import subprocess, sys, time
burn = 'import time\\nwhile time.process_time() < 0.15: pass\\n'
subprocess.run([sys.executable, '-c', burn])
ballast = b'x' * 60_000_000
del ballast
child = subprocess.Popen([sys.executable, '-c', burn + 'print(1, flush=True)\\nimport sys; sys.stdin.read()'])
sys.stdin.read()";
    let mut server = Server::python(script);
    assert_eq!(server.process.resources(), None);
    server.line().await;
    server.process.look();
    let facts = server.process.resources().expect("the system tells");
    assert!(
        facts.cpu >= Duration::from_millis(280),
        "an ended child and a living one: {facts:?}"
    );
    assert!(
        facts.peak_rss_bytes > 60_000_000,
        "the peak, not what is resident now: {facts:?}"
    );
    server.process.kill().await;
    let after = server.process.resources().expect("what was seen stays");
    assert!(after.cpu >= facts.cpu && after.peak_rss_bytes >= facts.peak_rss_bytes);
}
