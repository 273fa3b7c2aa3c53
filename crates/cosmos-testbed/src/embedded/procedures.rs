//! Stored procedures: the emulator has none, so their executions are kept here.

use http::StatusCode;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use super::perform;
use super::reply::{self, Reply};
use super::request::Received;
use super::state::State;

/// One execution of a stored procedure. Two of them for one call are a write that was done twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProcedureExecution {
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// The procedure's id.
    pub procedure: String,
    /// The partition-key header.
    pub partition_key: String,
    /// The arguments, a JSON array.
    pub arguments: Value,
    /// The region that executed it.
    pub region: String,
}

/// Every execution so far.
#[derive(Debug, Default)]
pub(crate) struct Procedures(Mutex<Vec<ProcedureExecution>>);

impl Procedures {
    pub(crate) fn executions(&self) -> Vec<ProcedureExecution> {
        self.0.lock().clone()
    }

    /// Records an execution and tells how many of its procedure there were with it.
    fn record(&self, execution: &ProcedureExecution) -> usize {
        let mut executions = self.0.lock();
        executions.push(execution.clone());
        let same = executions.iter().filter(|other| {
            (&other.database, &other.container, &other.procedure)
                == (
                    &execution.database,
                    &execution.container,
                    &execution.procedure,
                )
        });
        same.count()
    }
}

/// Executes a procedure. Any id will do: none has to be created before.
pub(crate) async fn execute(
    state: &State,
    region: &str,
    procedure: &str,
    request: &Received,
) -> Reply {
    let Ok(arguments @ Value::Array(_)) = serde_json::from_slice(&request.body) else {
        return refused("The arguments are not a JSON array.");
    };
    let (Some((database, container)), Some(partition_key)) =
        (request.container(), request.partition_key())
    else {
        return refused("A stored procedure is executed on a partition key.");
    };
    // An unknown container, a bad key, a range being split: the emulator's word on that counts.
    match perform::probe(state, request).await {
        Some(probe) if !probe.status.is_success() => return probe.into_reply(),
        _ => {}
    }
    let execution = ProcedureExecution {
        database: database.to_owned(),
        container: container.to_owned(),
        procedure: procedure.to_owned(),
        partition_key: partition_key.to_owned(),
        arguments,
        region: region.to_owned(),
    };
    let mut body = json!({ "procedure": procedure, "arguments": execution.arguments });
    body["executions"] = state.procedures.record(&execution).into();
    reply::json(StatusCode::OK, &body)
}

fn refused(message: &str) -> Reply {
    reply::failure(StatusCode::BAD_REQUEST, None, None, message)
}
