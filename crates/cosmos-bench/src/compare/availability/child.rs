//! This program again, once for each client: a process of its own with an account of its own.

use std::process::Stdio;
use std::time::Duration;

use cosmos_core::BoxError;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::cell::{COMING_BACK, FAULT, FAULT_OVER, Measured};
use super::clients::Peer;
use super::fault::Fault;
use crate::argument::name;
use crate::peers::WITHOUT_IMDS;

/// What a child may take beyond the fault, for its setup and its end.
const MARGIN: Duration = Duration::from_secs(60);

/// A child at work; ended when dropped.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) fault: Fault,
    pub(super) peer: Peer,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(super) fn start(fault: Fault, peer: Peer) -> Result<Self, BoxError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("suffer");
        for (option, value) in [("--fault", name(&fault)), ("--client", name(&peer))] {
            command.args([option, &value]);
        }
        command.envs([WITHOUT_IMDS]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        Ok(Self {
            fault,
            peer,
            child,
            lines: BufReader::new(output).lines(),
        })
    }

    /// Until the fault is over; others may be measured then.
    pub(super) async fn until_over(&mut self) -> Result<(), BoxError> {
        let line = self.line(FAULT + MARGIN).await?;
        if line != FAULT_OVER {
            return Err(self.wrong(&format!("it said {line:?}")));
        }
        Ok(())
    }

    /// What it found.
    pub(super) async fn measured(&mut self) -> Result<Measured, BoxError> {
        let line = self.line(COMING_BACK + MARGIN).await?;
        let measured = serde_json::from_str(&line)?;
        timeout(MARGIN, self.child.wait()).await??;
        Ok(measured)
    }

    async fn line(&mut self, limit: Duration) -> Result<String, BoxError> {
        match timeout(limit, self.lines.next_line()).await {
            Ok(line) => line?.ok_or_else(|| self.wrong("it ended early; its error is above")),
            Err(_) => Err(self.wrong(&format!("it said nothing for {} s", limit.as_secs()))),
        }
    }

    fn wrong(&self, what: &str) -> BoxError {
        format!("{}: {}: {what}", self.fault.name(), self.peer.name()).into()
    }
}
