//! This program, started again as the server or as a client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use cosmos_core::BoxError;
use serde::Deserialize;

use super::{Drive, Driven};
use crate::argument::name;

/// The server, ended when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    endpoint: String,
}

#[derive(Deserialize)]
struct Address {
    endpoint: String,
}

impl Server {
    /// Starts it.
    ///
    /// # Errors
    /// If it does not start, or says nothing.
    pub(crate) fn start() -> Result<Self, BoxError> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("loopback-server")
            // Closed when this process ends, however it does: then the child ends, too.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take();
        let mut server = Self {
            child,
            endpoint: String::new(),
        };
        let mut line = String::new();
        BufReader::new(output.ok_or("no output")?).read_line(&mut line)?;
        server.endpoint = serde_json::from_str::<Address>(&line)?.endpoint;
        Ok(server)
    }

    /// Where the account is.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it has ended already, there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drive {
    /// Drives in a process of its own.
    ///
    /// # Errors
    /// What that process says.
    pub(crate) fn apart(&self) -> Result<Driven, BoxError> {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(std::env::current_exe()?)
            .args(["loopback-client", "--endpoint", &self.endpoint])
            .args(["--kind", &name(&self.kind)])
            .args(["--protocol", &name(&self.protocol)])
            .args(["--at-a-time", &self.at_a_time.to_string()])
            .args(["--millis", &self.millis.to_string()])
            .stdin(Stdio::null())
            .output()?;
        if !status.success() {
            return Err(String::from_utf8_lossy(&stderr).into());
        }
        Ok(serde_json::from_slice(&stdout)?)
    }
}
