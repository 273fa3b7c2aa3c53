//! What the program is asked for.

use std::time::Duration;

use clap::Parser;

/// Runs every kind of operation against an account that misbehaves at random, checks every answer, and
/// watches what the client keeps. Ends with an error if anything was wrong.
#[derive(Clone, Debug, Parser)]
#[command(name = "soak", version)]
pub(crate) struct Options {
    /// How long to run.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_080))]
    minutes: u64,
    /// How long to run, for a short check. Memory is judged from three minutes on.
    #[arg(long, value_name = "N", conflicts_with = "minutes", value_parser = clap::value_parser!(u64).range(10..=3600))]
    seconds: Option<u64>,
    /// Decides what is done and what fails. Default: another one each time.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Prints one JSON object and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Be the account.
    #[arg(long, hide = true)]
    pub(crate) serve_account: bool,
}

impl Options {
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(self.minutes * 60))
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000))
    }
}
