//! What a region does with a request: mostly the emulator's work, with what it lacks added.

use azure_core::http::Url;
use azure_data_cosmos_driver::in_memory_emulator::{RegionStatus, WriteMode};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use super::content_path;
use super::endpoint::Endpoint;
use super::engine::{Answer, Ask, write_forbidden};
use super::partition_delete;
use super::port::Port;
use super::procedures;
use super::reply::{self, Reply, ReplyBody};
use super::request::{Class, Received};
use super::state::State;

/// Performs a request at the endpoint of `port`.
pub(crate) async fn perform(state: &State, port: &Port, request: &Received) -> Reply {
    let url = state.region_url(port);
    let config = state.engine.store().config();
    let active = config
        .region_for_url(&url)
        .is_some_and(|region| region.status == RegionStatus::Active);
    // A region that is leaving or gone answers 403/1008 to everything, whatever else is set here.
    if !active {
        return ask(state, &url, request).await.into_reply();
    }
    let region = state.region_at(&port.endpoint);
    let target = &request.target;
    if target.class == Class::Account {
        return account(state, port, ask(state, &url, request).await);
    }
    if target.class == Class::Data && !target.writes && state.sessions.lags(&region) {
        let message = "The read session is not available for the input session token.";
        return reply::failure(StatusCode::NOT_FOUND, Some(1002), None, message);
    }
    if !target.writes {
        return read(state, &url, request).await;
    }
    let satellite = config.write_mode() == WriteMode::Multi && region != state.engine.hub();
    if satellite && !request.flag("x-ms-cosmos-allow-tentative-writes") {
        return write_forbidden();
    }
    match moved_to(state, request).await {
        Some(owner) if owner != region => write_forbidden(),
        // The emulator knows one writer per account, so the range's writer borrows the hub's name.
        Some(_) => {
            let hub = state.engine.hub_url().unwrap_or(url);
            write(state, &region, &hub, request).await
        }
        None if !config.is_write_region(&region) => write_forbidden(),
        None => write(state, &region, &url, request).await,
    }
}

/// The partition key range that a request is for: named, or reached by its partition key.
pub(crate) async fn range_of(state: &State, request: &Received) -> Option<String> {
    if let Some(id) = request.range_id() {
        return Some(id.to_owned());
    }
    let probe = probe(state, request).await?;
    let id = probe.header("x-ms-documentdb-partitionkeyrangeid")?;
    Some(id.to_owned())
}

/// Reads one item's worth of the request's logical partition, for the answer's headers.
///
/// The emulator keeps its hashing of partition keys to itself, and tells the range with every answer.
pub(crate) async fn probe(state: &State, request: &Received) -> Option<Answer> {
    let hub = state.engine.hub_url()?;
    let ask = Ask {
        method: Method::GET,
        path_and_query: format!("{}/docs", container_path(request)?),
        headers: partition_headers(request, "1")?,
        body: Bytes::new(),
    };
    Some(state.engine.answer(&hub, ask).await)
}

/// The path of the container that a request is in, encoded as it was sent.
pub(crate) fn container_path(request: &Received) -> Option<String> {
    request.container()?;
    let segments: Vec<&str> = request.uri.path().trim_matches('/').split('/').collect();
    let container = segments.get(..4)?;
    Some(format!("/{}", container.join("/")))
}

/// The headers of a read within the request's logical partition.
pub(crate) fn partition_headers(request: &Received, items: &'static str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let key = request.headers.get("x-ms-documentdb-partitionkey")?;
    headers.insert("x-ms-documentdb-partitionkey", key.clone());
    headers.insert("x-ms-max-item-count", http::HeaderValue::from_static(items));
    Some(headers)
}

async fn moved_to(state: &State, request: &Received) -> Option<String> {
    let (database, container) = request.container()?;
    if request.target.class != Class::Data || !state.moved.any_in(database, container) {
        return None;
    }
    let range = range_of(state, request).await?;
    state.moved.owner(database, container, &range)
}

async fn read(state: &State, url: &Url, request: &Received) -> Reply {
    if request.method != Method::HEAD {
        return ask(state, url, request).await.into_reply();
    }
    let mut get = request.clone();
    get.method = Method::GET;
    // The emulator has no HEAD. Whoever sends the answer leaves its body out.
    ask(state, url, &get).await.into_reply()
}

async fn write(state: &State, region: &str, url: &Url, request: &Received) -> Reply {
    match request.target.words().as_slice() {
        ["dbs", _, "colls", _, "sprocs", procedure] if request.method == Method::POST => {
            procedures::execute(state, region, procedure, request).await
        }
        ["dbs", _, "colls", _, "operations", "partitionkeydelete"] => {
            partition_delete::perform(state, url, request).await
        }
        _ => ask(state, url, request).await.into_reply(),
    }
}

async fn ask(state: &State, url: &Url, request: &Received) -> Answer {
    let mut answer = forward(state, url, request).await;
    if request.target.class == Class::Data {
        content_path::add(&mut answer);
    }
    answer
}

async fn forward(state: &State, url: &Url, request: &Received) -> Answer {
    let path_and_query = request.uri.path_and_query();
    let ask = Ask {
        method: request.method.clone(),
        path_and_query: path_and_query.map_or("/", |path| path.as_str()).to_owned(),
        headers: request.headers.clone(),
        body: request.body.clone(),
    };
    state.engine.answer(url, ask).await
}

/// The emulator names an account after the first label of the host, which is `127` here.
fn account(state: &State, port: &Port, answer: Answer) -> Reply {
    let Ok(mut document) = serde_json::from_slice::<serde_json::Value>(&answer.body) else {
        return answer.into_reply();
    };
    let id = match &port.endpoint {
        Endpoint::Global => state.account_id.clone(),
        Endpoint::Region(name) => {
            let name = name.to_lowercase().replace(' ', "");
            format!("{}-{name}", state.account_id)
        }
    };
    if answer.status.is_success() {
        document["_rid"] = format!("{id}.sql.cosmos.azure.com").into();
        document["id"] = id.into();
    }
    let mut reply = answer.into_reply();
    *reply.body_mut() = ReplyBody::whole(document.to_string().into());
    reply
}
