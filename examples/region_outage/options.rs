//! What the program is asked for.

use std::time::Duration;

use clap::{Parser, ValueEnum};
use cosmos_testbed::embedded::WriteMode;

/// Sends one load through a regional outage twice: with a plain HTTP client that is pinned to the
/// preferred region, and with the layers of tower-cosmos. Shows what their callers saw.
#[derive(Clone, Debug, Parser)]
#[command(name = "region_outage", version)]
pub(crate) struct Options {
    /// Whether every region accepts writes, or the hub alone.
    #[arg(long, value_enum, default_value = "multi")]
    pub(crate) account: AccountKind,
    /// How long the load lasts; the phases are shares of it. In less than 40 s there may be no time
    /// left for the return to the preferred region.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..=3600))]
    seconds: u64,
    /// Operations per second offered to each client.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub(crate) rate: u32,
    /// Prints one JSON object and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Options {
    /// How long the load lasts.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// How many operations each client is offered.
    pub(crate) fn operations(&self) -> u64 {
        self.seconds * u64::from(self.rate)
    }
}

/// The two kinds of accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccountKind {
    /// The hub alone accepts writes.
    Single,
    /// Every region accepts writes.
    Multi,
}

impl AccountKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Multi => "multi",
        }
    }
}

impl From<AccountKind> for WriteMode {
    fn from(kind: AccountKind) -> Self {
        match kind {
            AccountKind::Single => Self::Single,
            AccountKind::Multi => Self::Multi,
        }
    }
}
