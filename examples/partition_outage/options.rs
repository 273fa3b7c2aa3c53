//! What the program is asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// Sends a load over several partitions of a container, of which one gets sick in the preferred region.
/// Shows which requests went elsewhere, and how the partition came back.
#[derive(Clone, Debug, Parser)]
#[command(name = "partition_outage", version)]
pub(crate) struct Options {
    /// How long the load lasts; the phases are shares of it.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(20..=3600))]
    seconds: u64,
    /// Operations per second.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(40..=400))]
    pub(crate) rate: u32,
    /// Where the report goes.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/partition_outage/report.html"
    )]
    pub(crate) report: PathBuf,
    /// Prints one JSON object and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Options {
    /// How long the load lasts.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// How many operations there are.
    pub(crate) fn operations(&self) -> u64 {
        self.seconds * u64::from(self.rate)
    }
}
