//! The account, in a process of its own: what this program keeps is then the client's alone.

use std::error::Error;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use cosmos_testbed::embedded::EmbeddedAccount;
use serde::Deserialize;
use serde_json::json;

/// The regions, in the order in which the client prefers them; the first is the hub.
pub(crate) const REGIONS: [&str; 3] = ["East US", "West US 3", "North Europe"];

pub(crate) const DATABASE: &str = "soak";
pub(crate) const CONTAINER: &str = "items";

/// How many partition key ranges the container begins with: `0` to `PARTITIONS - 1`.
pub(crate) const PARTITIONS: u32 = 4;

/// Where the account is.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Address {
    pub(crate) endpoint: String,
    pub(crate) key: String,
    pub(crate) control: String,
}

/// The child process, ended when dropped.
#[derive(Debug)]
pub(crate) struct Served(Child);

/// Starts this program again, as the account.
pub(crate) fn start() -> Result<(Served, Address), Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--serve-account")
        // Closed when this process ends, however it does: then the child ends, too.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take();
    let served = Served(child);
    let mut line = String::new();
    BufReader::new(output.ok_or("no output")?).read_line(&mut line)?;
    Ok((served, serde_json::from_str(&line)?))
}

impl Drop for Served {
    fn drop(&mut self) {
        // If it has ended already, there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Is the account until standard input ends.
pub(crate) async fn run(seed: u64) -> Result<(), Box<dyn Error>> {
    let account = EmbeddedAccount::builder()
        .regions(REGIONS)
        .container(DATABASE, CONTAINER, "/pk", PARTITIONS)
        .per_partition_failover(true)
        .seed(seed)
        .start()
        .await?;
    let line = json!({
        "endpoint": account.endpoint(),
        "key": account.key(),
        "control": account.open_control().await?,
    });
    println!("{line}");
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}
