//! Manifest and flags into a plan, for every command that takes a selection. Mistakes are shown
//! here, all at once, with their lines; the caller only sees that there is no plan.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::cli::{Install, RunArgs, Selection, StageArgs};
use crate::console;
use crate::manifest::Manifest;
use crate::plan::{Environment, Flags, InstallMode, Plan, PlanError};

/// The plan of a run.
pub(super) fn for_run(args: &RunArgs) -> anyhow::Result<Option<Plan>> {
    let flags = Flags {
        selectors: args.selection.selectors.clone(),
        calls: args.calls,
        warmup: args.warmup,
        repeats: args.repeats,
        cold_starts: args.cold_starts,
        jobs: args.jobs.map(|jobs| jobs as usize),
        seed: args.seed,
        smoke: args.smoke,
        install: match args.install {
            Install::Missing => InstallMode::Missing,
            Install::Update => InstallMode::Update,
            Install::Never => InstallMode::Never,
        },
        install_programs: args.install_programs,
        strict: args.strict,
        locked: args.locked,
        reports: args.reports.clone(),
        logs: args.logs.clone(),
        ..Flags::default()
    };
    make(&args.selection.manifest, &flags)
}

/// The plan of `stage`: what a run would do.
pub(super) fn for_stage(args: &StageArgs) -> anyhow::Result<Option<Plan>> {
    let flags = Flags {
        selectors: args.selection.selectors.clone(),
        calls: args.calls,
        ..Flags::default()
    };
    make(&args.selection.manifest, &flags)
}

/// The plan of a command that only selects.
pub(super) fn for_selection(selection: &Selection) -> anyhow::Result<Option<Plan>> {
    make(
        &selection.manifest,
        &Flags {
            selectors: selection.selectors.clone(),
            ..Flags::default()
        },
    )
}

/// The plan of `check`: only looks, and writes nothing.
pub(super) fn for_check(selection: &Selection) -> anyhow::Result<Option<Plan>> {
    let flags = Flags {
        selectors: selection.selectors.clone(),
        install: InstallMode::Never,
        ..Flags::default()
    };
    make(&selection.manifest, &flags)
}

fn make(path: &Path, flags: &Flags) -> anyhow::Result<Option<Plan>> {
    let text = read(path)?;
    let manifest = match Manifest::parse(&text, path) {
        Ok(manifest) => manifest,
        Err(mistakes) => {
            let colour = console::colour_choice_for_messages();
            console::say(&if colour { mistakes.coloured() } else { mistakes.plain() });
            return Ok(None);
        }
    };
    let environment = Environment::read().context("could not tell the current folder or this binary")?;
    match Plan::make(&manifest, path, flags, &environment) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) => Err(with_hint(error)),
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => anyhow!(
            "there is no {}\nhint: run in the folder of your servers.toml, or name it by --manifest FILE",
            path.display()
        ),
        _ => anyhow!("could not read {}: {error}", path.display()),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        anyhow!(
            "{} is no UTF-8 text from byte {} on",
            path.display(),
            error.utf8_error().valid_up_to()
        )
    })
}

fn with_hint(error: PlanError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => anyhow!("{error}\nhint: {hint}"),
        None => anyhow!(error),
    }
}
