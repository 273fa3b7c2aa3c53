//! Runs an embedded account until it is stopped.
//!
//! Prints one line of JSON: the global endpoint, the key (made up for this run), the control endpoint
//! and every region's endpoint.

use std::error::Error;

use clap::{Parser, ValueEnum};
use cosmos_testbed::embedded::{EmbeddedAccount, WriteMode};
use serde_json::json;

/// Names for as many regions as anyone will want.
const REGIONS: [&str; 10] = [
    "East US",
    "West US 3",
    "North Europe",
    "West Europe",
    "Southeast Asia",
    "Japan East",
    "Australia East",
    "Brazil South",
    "Central India",
    "Canada Central",
];

/// An embedded multi-region account on loopback ports.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// How many regions; the first is the hub.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    regions: u8,
    /// Which regions accept writes.
    #[arg(long, value_enum, default_value = "single")]
    write_mode: Writes,
    /// Physical partitions of the container.
    #[arg(long, default_value_t = 4)]
    partitions: u32,
    /// The container that is there from the start, as DATABASE/CONTAINER.
    #[arg(long, default_value = "testbed/items", value_parser = database_and_container)]
    container: (String, String),
    /// The path of the container's partition key.
    #[arg(long, default_value = "/pk")]
    partition_key: String,
    /// Says in the account document that per-partition automatic failover is on.
    #[arg(long)]
    per_partition_failover: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Writes {
    Single,
    Multi,
}

impl From<Writes> for WriteMode {
    fn from(writes: Writes) -> Self {
        match writes {
            Writes::Single => Self::Single,
            Writes::Multi => Self::Multi,
        }
    }
}

fn database_and_container(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((database, container)) if !database.is_empty() && !container.is_empty() => {
            Ok((database.to_owned(), container.to_owned()))
        }
        _ => Err("expected DATABASE/CONTAINER".to_owned()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let (database, container) = arguments.container;
    let account = EmbeddedAccount::builder()
        .regions(REGIONS.into_iter().take(arguments.regions.into()))
        .write_mode(arguments.write_mode.into())
        .container(
            &database,
            &container,
            arguments.partition_key,
            arguments.partitions,
        )
        .per_partition_failover(arguments.per_partition_failover)
        .start()
        .await?;
    let control = account.open_control().await?;
    let line = json!({
        "endpoint": account.endpoint(),
        "key": account.key(),
        "control": control,
        "hub": account.hub(),
        "database": database,
        "container": container,
        "regions": account.regions(),
    });
    println!("{line}");
    stopped().await?;
    Ok(())
}

/// Waits for Ctrl-C or, where there is one, a request to terminate.
async fn stopped() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            stopped = tokio::signal::ctrl_c() => stopped,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
