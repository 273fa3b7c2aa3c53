//! One request, from its last byte to its answer: read, counted, verified, met by faults, performed.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::sync::mpsc;

use super::clock;
use super::connection::Order;
use super::faults::{FaultKind, Subject};
use super::observations::{Outcome, Violation};
use super::perform;
use super::port::Port;
use super::reply::{self, Reply, ReplyBody, SUBSTATUS};
use super::request::Received;
use super::state::State;
use super::verify::{self, Rejection};

/// The largest request body that is read; the service's own limit on an item is 2 MiB.
const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// Answers a request that arrived at `port`.
pub(crate) async fn answer(
    state: Arc<State>,
    port: Arc<Port>,
    orders: mpsc::Sender<Order>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let head = request.method() == Method::HEAD;
    let reply = match receive(request).await {
        Ok(request) => exchange(&state, &port, &orders, &request).await,
        Err(refusal) => refusal,
    };
    Ok(if head { reply::head_of(reply) } else { reply })
}

async fn exchange(
    state: &State,
    port: &Port,
    orders: &mpsc::Sender<Order>,
    request: &Received,
) -> Reply {
    let sequence = state.seen.read(&port.endpoint, request);
    if let Err(rejection) = verify::verify(request, &state.key.0, &port.authority, clock::wall()) {
        let reply = turn_away(state, port, request, rejection);
        state.seen.close(sequence, answered(&reply));
        return reply;
    }
    let met = meet_faults(state, port, request).await;
    // These never come back from below.
    if let Some(kind @ (FaultKind::Hang | FaultKind::ResetAfterRequest | FaultKind::LoseAnswer)) =
        &met
    {
        state.seen.close(sequence, Outcome::Fault(kind.name()));
    }
    let reply = under_fault(state, port, orders, request, met.as_ref()).await;
    let outcome = match met {
        Some(kind @ FaultKind::CutBody) => Outcome::Fault(kind.name()),
        _ => answered(&reply),
    };
    state.seen.close(sequence, outcome);
    reply
}

/// Reads a request to its end.
async fn receive(request: Request<Incoming>) -> Result<Received, Reply> {
    let (head, body) = request.into_parts();
    let body: Bytes = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let message = "The request is larger than 4 MiB.";
            return Err(reply::failure(
                StatusCode::PAYLOAD_TOO_LARGE,
                None,
                None,
                message,
            ));
        }
        // The peer went away in the middle of its request; nobody reads this.
        Err(_) => {
            return Err(reply::failure(
                StatusCode::BAD_REQUEST,
                None,
                None,
                "The request ended early.",
            ));
        }
    };
    Ok(Received::new(
        head.method,
        head.uri,
        head.version,
        head.headers,
        body,
    ))
}

fn turn_away(state: &State, port: &Port, request: &Received, rejection: Rejection) -> Reply {
    let status = rejection.status();
    let reply = reply::failure(status, None, None, &rejection.detail);
    state.seen.violation(Violation {
        endpoint: port.endpoint.clone(),
        method: request.method.to_string(),
        path: request.uri.path().to_owned(),
        kind: rejection.kind,
        detail: rejection.detail,
    });
    reply
}

/// Waits out the delays that a request meets, and tells which other fault it meets.
async fn meet_faults(state: &State, port: &Port, request: &Received) -> Option<FaultKind> {
    let range = if state.faults.looks_at_ranges(&port.endpoint) {
        perform::range_of(state, request).await
    } else {
        None
    };
    let subject = Subject {
        endpoint: &port.endpoint,
        target: &request.target,
        partition_key: request.partition_key(),
        range: range.as_deref(),
    };
    let met = state.faults.meet(subject, clock::monotonic());
    if !met.delay.is_zero() {
        tokio::time::sleep(met.delay).await;
    }
    met.fault
}

async fn under_fault(
    state: &State,
    port: &Port,
    orders: &mpsc::Sender<Order>,
    request: &Received,
    fault: Option<&FaultKind>,
) -> Reply {
    match fault {
        Some(FaultKind::Hang) => std::future::pending().await,
        Some(FaultKind::ResetAfterRequest) => reset(orders).await,
        Some(FaultKind::LoseAnswer) => {
            drop(perform::perform(state, port, request).await);
            reset(orders).await
        }
        Some(FaultKind::Status {
            status,
            substatus,
            retry_after_ms,
        }) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            reply::failure(status, *substatus, *retry_after_ms, "A fault is set.")
        }
        Some(FaultKind::Throttle { retry_after_ms }) => reply::failure(
            StatusCode::TOO_MANY_REQUESTS,
            Some(3200),
            Some(*retry_after_ms),
            "Request rate is large.",
        ),
        Some(FaultKind::CutBody) => {
            let reply = perform::perform(state, port, request).await;
            reply.map(ReplyBody::cut)
        }
        Some(FaultKind::GoAway) => {
            let _ = orders.send(Order::ShutDown).await;
            perform::perform(state, port, request).await
        }
        // The first has been waited for, and the second ends connections, not requests.
        None | Some(FaultKind::Delay(_) | FaultKind::RefuseConnections) => {
            perform::perform(state, port, request).await
        }
    }
}

/// Has the connection reset, and never answers.
async fn reset(orders: &mpsc::Sender<Order>) -> Reply {
    // An error is a connection that is gone already.
    let _ = orders.send(Order::Reset).await;
    std::future::pending().await
}

fn answered(reply: &Reply) -> Outcome {
    let substatus = reply.headers().get(SUBSTATUS);
    let substatus = substatus.and_then(|value| value.to_str().ok()?.parse().ok());
    Outcome::Answered {
        status: reply.status().as_u16(),
        substatus: substatus.unwrap_or(0),
    }
}
