//! `requires` and `[[requires]]`: programs that must be on this machine, and their installation when the
//! user asked for it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::SkipReason;
use crate::package::{Environment, Errand, Trouble};
use crate::plan::Program;

use super::voice::Voice;
use super::{Refusal, Rows, Surroundings, browser};

/// A browser is 150 MB to fetch and 500 MB to unpack.
const INSTALL_LIMIT: Duration = Duration::from_mins(15);
/// What `${git_repo}` is made with.
const GIT: &str = "git";

/// Takes out the rows that require a program which is not there.
pub(super) async fn check(surroundings: &Surroundings<'_>, rows: &mut Rows<'_>) {
    let mut missing = BTreeMap::new();
    for name in rows
        .going
        .iter()
        .flat_map(required)
        .collect::<std::collections::BTreeSet<_>>()
    {
        let program = surroundings.program(&name);
        if surroundings.has(&program).await {
            continue;
        }
        let concerned = rows.going.iter().filter(|row| required(row).contains(&name));
        let voice = Voice::of_all(concerned.map(|row| &row.voice));
        let installed = match voice {
            Some(voice) => surroundings.install_program(&program, &voice).await,
            None => Ok(()),
        };
        let problem = match installed {
            Ok(()) if surroundings.has(&program).await => continue,
            Ok(()) => String::new(),
            Err(problem) => format!(", and installing it failed: {problem}"),
        };
        missing.insert(name, skip(&program, &problem));
    }
    rows.sort_out(|row| match required(row).iter().find_map(|name| missing.get(name)) {
        Some(skip) => Err(skip.clone()),
        None => Ok(()),
    });
}

/// The programs a row requires, `git` for `${git_repo}` included.
fn required(row: &super::Candidate<'_>) -> Vec<String> {
    let mut names = row.launch.requires.clone();
    if row.launch.needs.git_repo && !names.iter().any(|name| name == GIT) {
        names.push(GIT.to_owned());
    }
    names
}

impl Surroundings<'_> {
    /// The program of that name; one that is not in the manifest's table is its own only name.
    fn program(&self, name: &str) -> Program {
        self.plan.programs.get(name).cloned().unwrap_or_else(|| Program {
            name: name.to_owned(),
            any_of: vec![name.to_owned()],
            hint: None,
            install: Vec::new(),
        })
    }

    async fn has(&self, program: &Program) -> bool {
        let names = if program.any_of.is_empty() {
            std::slice::from_ref(&program.name)
        } else {
            &program.any_of
        };
        if names.iter().any(|name| self.environment.program(name).is_some()) {
            return true;
        }
        // A browser may be somewhere else than on PATH.
        browser::is_one(program) && browser::find(self.environment, self.cancel).await.is_some()
    }

    /// Runs the program's `install` commands, if the user asked for that.
    pub(super) async fn install_program(&self, program: &Program, voice: &Voice) -> Result<(), String> {
        if !self.plan.settings.install_programs {
            return Ok(());
        }
        for words in &program.install {
            let Some((command, arguments)) = words.split_first() else {
                continue;
            };
            voice.doing(&format!("installing {}", program.name));
            let errand = Errand {
                program: self.environment.program(command).unwrap_or_else(|| command.into()),
                arguments: arguments.iter().map(Into::into).collect(),
                environment: without_questions(self.environment),
                folder: std::env::temp_dir(),
                limit: INSTALL_LIMIT,
            };
            voice.line(&format!("$ {}", errand.command_line()));
            match errand.run(&mut |line| voice.line(line), self.cancel).await {
                Ok(_done) => {}
                Err(Trouble::Cancelled) => return Err("interrupted".to_owned()),
                Err(Trouble::Failed { problem, last_lines }) => {
                    let last = last_lines.last().map(|line| format!(" ({line})")).unwrap_or_default();
                    return Err(format!("{}: {problem}{last}", words.join(" ")));
                }
            }
        }
        Ok(())
    }
}

/// apt-get would ask, and wait for an answer that cannot come.
fn without_questions(environment: &Environment) -> Environment {
    match environment.value("DEBIAN_FRONTEND") {
        Some(_) => environment.clone(),
        None => environment.clone().with("DEBIAN_FRONTEND", "noninteractive"),
    }
}

/// The skip of a row that lacks the program.
pub(super) fn skip(program: &Program, problem: &str) -> Refusal {
    let names = match program.any_of.as_slice() {
        [] => program.name.clone(),
        [one] => one.clone(),
        several => format!("{} (any of {})", program.name, several.join(", ")),
    };
    Refusal::skipped(
        SkipReason::ProgramMissing,
        format!("{names} is not on this machine{problem}"),
        Some(cure(program)),
    )
}

fn cure(program: &Program) -> String {
    let commands = program
        .install
        .iter()
        .filter_map(|words| shlex::try_join(words.iter().map(String::as_str)).ok());
    let commands: Vec<String> = commands.collect();
    match &program.hint {
        Some(hint) => hint.clone(),
        None if commands.is_empty() => format!("install {} so that it is on PATH", program.name),
        None => commands.join(" && "),
    }
}
