//! What the control endpoint answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::moves::Move;
use crate::embedded::faults::{FaultId, FaultRule, FaultSwitches};
use crate::embedded::moves::AccountMoves;
use crate::embedded::reply::{self, Reply};
use crate::embedded::state::State;

/// Rules and moves are small.
const BODY_LIMIT: usize = 64 * 1024;

/// An answer that is not a success.
struct Refusal(StatusCode, String);

pub(super) async fn answer(
    state: &Arc<State>,
    authority: &str,
    request: Request<Incoming>,
) -> Reply {
    match route(state, authority, request).await {
        Ok(body) => reply::json(StatusCode::OK, &body),
        Err(Refusal(status, error)) => reply::json(status, &json!({ "error": error })),
    }
}

async fn route(
    state: &Arc<State>,
    authority: &str,
    request: Request<Incoming>,
) -> Result<Value, Refusal> {
    // A web page that resolves its own name to this machine must not drive the account.
    let host = request.headers().get(http::header::HOST);
    if host.is_none_or(|host| host.as_bytes() != authority.as_bytes()) {
        let message = format!("this is {authority}");
        return Err(Refusal(StatusCode::MISDIRECTED_REQUEST, message));
    }
    let method = request.method().clone();
    // The URL that is printed ends in a slash, and is easily joined to one more.
    let path = format!("/{}", request.uri().path().trim_start_matches('/'));
    let faults = FaultSwitches::new(Arc::clone(state));
    match (&method, path.as_str()) {
        (&Method::GET, "/account") => Ok(account(state)),
        (&Method::GET, "/counts") => Ok(counts(state)),
        (&Method::DELETE, "/counts") => {
            state.seen.reset_counts();
            Ok(Value::Null)
        }
        (&Method::GET, "/log") => Ok(json!(state.seen.log_from(0))),
        (&Method::GET, "/violations") => Ok(json!(state.seen.violations())),
        (&Method::GET, "/executions") => Ok(json!(state.procedures.executions())),
        (&Method::GET, "/faults") => {
            let active = faults.active().into_iter();
            let active = active.map(|(id, rule)| json!({ "id": id, "rule": rule }));
            Ok(active.collect())
        }
        (&Method::POST, "/faults") => {
            let rule: FaultRule = body(request).await?;
            let id = faults.set(rule).await.map_err(rejected)?;
            Ok(json!({ "id": id }))
        }
        (&Method::DELETE, "/faults") => {
            faults.clear_all().await;
            Ok(Value::Null)
        }
        (&Method::DELETE, path) if path.starts_with("/faults/") => {
            let id = path["/faults/".len()..].parse().map_err(rejected)?;
            Ok(json!({ "cleared": faults.clear(FaultId(id)).await }))
        }
        (&Method::POST, "/moves") => {
            let wanted: Move = body(request).await?;
            let moves = AccountMoves::new(Arc::clone(state));
            let result = wanted.make(&moves).await.map_err(rejected)?;
            Ok(json!({ "result": result }))
        }
        _ => Err(Refusal(
            StatusCode::NOT_FOUND,
            format!("{method} {path} is nothing that the control endpoint does"),
        )),
    }
}

fn account(state: &State) -> Value {
    let ports = state.ports();
    let global = ports
        .iter()
        .find(|port| port.endpoint.region_name().is_none());
    json!({
        "endpoint": global.map(|port| port.url.as_str()),
        "hub": state.engine.hub(),
        "regions": state.regions(),
        "reassigned_ranges": state.moved.all(),
    })
}

fn counts(state: &State) -> Value {
    let mut regions = BTreeMap::new();
    let mut global = Value::Null;
    for port in state.ports() {
        let counts = json!(state.seen.counts(&port.endpoint));
        match port.endpoint.region_name() {
            Some(name) => drop(regions.insert(name.to_owned(), counts)),
            None => global = counts,
        }
    }
    json!({ "global": global, "regions": regions })
}

async fn body<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, Refusal> {
    let body = Limited::new(request.into_body(), BODY_LIMIT)
        .collect()
        .await;
    let body: Bytes = body.map_err(rejected)?.to_bytes();
    serde_json::from_slice(&body).map_err(rejected)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn rejected(error: impl ToString) -> Refusal {
    Refusal(StatusCode::BAD_REQUEST, error.to_string())
}
