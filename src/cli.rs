//! The command line as clap sees it: structs only. What the flags mean is `plan`'s and `command`'s.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Smoke-tests a fleet of MCP servers: what really ran, how fast, and what is wrong with it.
#[derive(Debug, Parser)]
#[command(name = "mcp-smoke", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start every server, measure it, judge it, and write logs, record and table
    Run(RunArgs),
    /// Check manifest, runtimes and commands; starts nothing
    Check(CheckArgs),
    /// Accept what the last complete run saw: write servers.lock beside the manifest
    Lock(LockArgs),
    /// List the rows a run would take
    List(ListArgs),
    /// Print how rows would be started, as lines of JSON; their fixtures stay until stdin closes
    #[command(hide = true)]
    Stage(StageArgs),
    /// Render an earlier run anew, without running anything
    Report(ReportArgs),
    /// What changed between two runs, or between the lock and a run, row by row
    Diff(DiffArgs),
    /// Versions, status and median over time, and the nights on which something changed
    History(HistoryArgs),
    /// Explain a finding: cause, evidence, cure; without a code, list them all
    Explain(ExplainArgs),
    /// The embedded MCP server: one tool, `echo {text}`, over stdio
    EchoServer,
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Which manifest, and which of its rows.
#[derive(Args, Clone, Debug)]
pub struct Selection {
    /// Rows to take: NAME, NAME@RUNTIME, a glob, tag:NAME; !SELECTOR leaves out
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,

    /// The manifest
    #[arg(short, long, value_name = "FILE", default_value = "servers.toml")]
    pub manifest: PathBuf,
}

/// The flags of `run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Which rows.
    #[command(flatten)]
    pub selection: Selection,

    /// Calls of each probe that count; never raises what a probe itself says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub calls: Option<u32>,

    /// Calls before them, not counted; never raises what a probe itself says
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,

    /// Full sessions per row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,

    /// Sessions per row in all; those beyond the repeats make handshake and list only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cold_starts: Option<u32>,

    /// Rows at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,

    /// Seed of the order in which rows run; from the clock by default, kept in the record
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// One call of each probe, no warm-up, as many rows at a time as there are cores
    #[arg(long)]
    pub smoke: bool,

    /// What to do about packages and runtimes
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Install::Missing)]
    pub install: Install,

    /// Install programs that rows require and the machine lacks, by the manifest's commands
    #[arg(long)]
    pub install_programs: bool,

    /// Rows that are not in the lock fail
    #[arg(long)]
    pub locked: bool,

    /// Warnings fail, too
    #[arg(long)]
    pub strict: bool,

    /// Where records and reports go
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,

    /// Where logs go
    #[arg(long, value_name = "DIR", default_value = "logs")]
    pub logs: PathBuf,

    /// What is printed on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `--install`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Install {
    /// Install what is not there
    Missing,
    /// Install everything anew, into new folders; where that fails, the earlier installation runs
    Update,
    /// Install nothing; rows that lack something are skipped
    Never,
}

/// `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The summary table
    Table,
    /// The record
    Json,
    /// The report
    Markdown,
    /// Nothing
    None,
}

/// The flags of `check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// Which rows.
    #[command(flatten)]
    pub selection: Selection,
}

/// The flags of `lock`.
#[derive(Args, Clone, Debug)]
pub struct LockArgs {
    /// Which rows.
    #[command(flatten)]
    pub selection: Selection,

    /// The run to take them from; by default the last one that was not interrupted
    #[arg(long, value_name = "RUN")]
    pub from: Option<String>,

    /// Do not ask, at a terminal either
    #[arg(long)]
    pub yes: bool,

    /// Where records lie
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,
}

/// The flags of `list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Which rows.
    #[command(flatten)]
    pub selection: Selection,
}

/// The flags of `stage`.
#[derive(Args, Clone, Debug)]
pub struct StageArgs {
    /// Which rows.
    #[command(flatten)]
    pub selection: Selection,

    /// As for `run`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub calls: Option<u32>,
}

/// The flags of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// A run's id, `latest` (the default), or the path of a run's folder or of its report.json
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,

    /// What to make of it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Markdown)]
    pub format: ReportFormat,

    /// Which table, with --format csv: one line per sample (the default) or one per row
    #[arg(long, value_name = "TABLE", value_enum)]
    pub table: Option<CsvTable>,

    /// Where records and reports are
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,
}

/// The flags of `diff`.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// What was: a run's id, `latest`, the folder of a run, or a lock file
    #[arg(value_name = "OLD")]
    pub old: String,

    /// What is: the same
    #[arg(value_name = "NEW")]
    pub new: String,

    /// Where the runs lie
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,
}

/// `report --format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// The article, as in report.md
    Markdown,
    /// A table for a program
    Csv,
    /// The article as a document to compile, with booktabs
    Latex,
    /// The record, in the newest format
    Json,
}

/// `report --table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CsvTable {
    /// One line per sample
    Samples,
    /// One line per row
    Rows,
}

/// The flags of `history`.
#[derive(Args, Clone, Debug)]
pub struct HistoryArgs {
    /// A row, or a server for all its rows; every row by default, a line each
    #[arg(value_name = "ROW")]
    pub row: Option<String>,

    /// The manifest, as it was named when the runs were made
    #[arg(short, long, value_name = "FILE", default_value = "servers.toml")]
    pub manifest: PathBuf,

    /// Where the runs lie
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,
}

/// The flags of `explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The code of a finding, such as held-back
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// The flags of `schema`.
#[derive(Args, Clone, Debug)]
pub struct SchemaArgs {
    /// Which schema
    #[arg(value_enum)]
    pub which: WhichSchema,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhichSchema {
    /// servers.toml
    Manifest,
}

/// The flags of `completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}
