//! What a region answers: the part of the protocol that the traffic of these tests speaks.

use bytes::Bytes;
use cosmos_core::headers;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::region::{REGIONS, Site};
use crate::store::{Change, Disk, Key, State};

/// A status, a substatus, an etag, and a document.
struct Reply {
    status: u16,
    substatus: u32,
    etag: Option<String>,
    body: Value,
}

impl Reply {
    fn ok(status: u16, body: Value) -> Self {
        Self {
            status,
            substatus: 0,
            etag: None,
            body,
        }
    }

    fn failed(status: u16, substatus: u32) -> Self {
        let body = json!({ "code": status.to_string(), "message": "" });
        Self {
            substatus,
            ..Self::ok(status, body)
        }
    }

    fn document(status: u16, change: &Change) -> Self {
        Self {
            etag: Some(change.etag.clone()),
            ..Self::ok(status, document(change))
        }
    }
}

/// Answers one request that has come whole; one that was cut off is none.
pub(crate) async fn answer(site: &Site, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return respond(Reply::failed(400, 0), None);
    };
    let body = body.to_bytes();
    let path: Vec<&str> = head.uri.path().split('/').skip(1).collect();
    match path[..] {
        [""] => respond(Reply::ok(200, account(site.multi_write)), None),
        ["dbs", "shop", "colls", "orders"] => respond(Reply::ok(200, container()), None),
        ["dbs", "shop", "colls", "orders", "pkranges"] => respond(ranges(&head.headers), None),
        ["dbs", "shop", "colls", "orders", "docs", ref rest @ ..] => {
            let region = site.region.expect("data goes to regions");
            let mut disk = site.disks[region].lock();
            let may_write = site.multi_write || region == 0;
            let reply = item(&mut disk, may_write, &head, &body, rest.first().copied());
            respond(reply, Some(disk.token()))
        }
        _ => panic!("{} {} is not modelled", head.method, head.uri),
    }
}

fn respond(reply: Reply, token: Option<String>) -> Response<Full<Bytes>> {
    let mut response = Response::builder()
        .status(reply.status)
        .header("content-type", "application/json")
        .header("x-ms-request-charge", "1");
    let substatus = (reply.substatus > 0).then(|| reply.substatus.to_string());
    let optional = [
        (headers::SUBSTATUS, substatus),
        (headers::SESSION_TOKEN, token),
        (http::header::ETAG, reply.etag),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            response = response.header(name, value);
        }
    }
    let bodiless = matches!(reply.status, 204 | 304);
    let body = if bodiless {
        Bytes::new()
    } else {
        reply.body.to_string().into()
    };
    response.body(Full::new(body)).expect("a response")
}

fn account(multi_write: bool) -> Value {
    let location = |(name, host): &(&str, &str)| json!({ "name": name, "databaseAccountEndpoint": format!("http://{host}:80/") });
    let readable: Vec<Value> = REGIONS.iter().map(location).collect();
    let writable = if multi_write {
        &readable[..]
    } else {
        &readable[..1]
    };
    json!({
        "id": "simulated", "_rid": "simulated", "_self": "",
        "readableLocations": readable,
        "writableLocations": writable,
        "enableMultipleWriteLocations": multi_write,
        "userConsistencyPolicy": { "defaultConsistencyLevel": "Session" },
    })
}

fn container() -> Value {
    let key = json!({ "paths": ["/pk"], "kind": "Hash", "version": 2 });
    json!({ "id": "orders", "_rid": "orders==", "partitionKey": key })
}

fn ranges(headers: &HeaderMap) -> Reply {
    let range = json!({ "id": "0", "minInclusive": "", "maxExclusive": "FF", "parents": [] });
    let page = json!({ "_rid": "orders==", "_count": 1, "PartitionKeyRanges": [range] });
    let reply = match headers.get(http::header::IF_NONE_MATCH) {
        Some(known) if known == "\"1\"" => Reply::failed(304, 0),
        _ => Reply::ok(200, page),
    };
    Reply {
        etag: Some("\"1\"".to_owned()),
        ..reply
    }
}

/// An operation on items.
fn item(disk: &mut Disk, may_write: bool, head: &Parts, body: &Bytes, id: Option<&str>) -> Reply {
    let says = |name: &HeaderName| text(&head.headers, name).is_some_and(|text| text == "True");
    let reads = head.method == Method::GET || says(&headers::IS_QUERY);
    if !reads && !may_write {
        return Reply::failed(403, 3);
    }
    let token = text(&head.headers, &headers::SESSION_TOKEN);
    if reads && token.is_some_and(|token| !disk.covers(token)) {
        return Reply::failed(404, 1002);
    }
    let partition = partition(&head.headers);
    match (&head.method, id) {
        (&Method::GET, Some(id)) => match disk.get(&(partition, id.to_owned())) {
            Some(stored) => Reply::document(200, stored),
            None => Reply::failed(404, 0),
        },
        (_, Some(id)) => change(disk, head, body, (partition, id.to_owned())),
        (_, None) if says(&headers::IS_QUERY) => {
            let documents: Vec<Value> = disk.partition(&partition).map(document).collect();
            Reply::ok(200, json!({ "_rid": "orders==", "Documents": documents }))
        }
        (_, None) if says(&headers::IS_BATCH_REQUEST) => batch(disk, body, &partition),
        (_, None) => {
            let (key, state) = parse(&json(body), &partition);
            let before = disk.get(&key).is_some();
            if before && !says(&headers::IS_UPSERT) {
                return Reply::failed(409, 0);
            }
            let change = disk.write(key, state, now());
            Reply::document(if before { 200 } else { 201 }, &change)
        }
    }
}

/// A replace, patch or delete.
fn change(disk: &mut Disk, head: &Parts, body: &Bytes, key: Key) -> Reply {
    let Some(stored) = disk.get(&key) else {
        return Reply::failed(404, 0);
    };
    let wanted = text(&head.headers, &http::header::IF_MATCH);
    if wanted.is_some_and(|etag| etag != stored.etag) {
        return Reply::failed(412, 0);
    }
    let state = match head.method {
        Method::DELETE => None,
        Method::PUT => json(body)["n"].as_u64(),
        Method::PATCH => json(body)["operations"][0]["value"].as_u64(),
        ref other => panic!("{other} of an item is not modelled"),
    };
    let change = disk.write(key, state, now());
    match state {
        Some(_) => Reply::document(200, &change),
        None => Reply::ok(204, Value::Null),
    }
}

/// Creates, all of them or none.
fn batch(disk: &mut Disk, body: &Bytes, partition: &str) -> Reply {
    let operations = json(body);
    let operations = operations.as_array().expect("a batch");
    let items = operations.iter().map(|operation| {
        assert_eq!(operation["operationType"], "Create", "not modelled");
        parse(&operation["resourceBody"], partition)
    });
    let items: Vec<(Key, State)> = items.collect();
    if items.iter().any(|(key, _)| disk.get(key).is_some()) {
        return Reply::failed(409, 0);
    }
    let mut results = Vec::new();
    for (key, state) in items {
        let change = disk.write(key, state, now());
        results.push(json!({ "statusCode": 201, "resourceBody": document(&change) }));
    }
    Reply::ok(200, Value::Array(results))
}

fn document(change: &Change) -> Value {
    let (partition, id) = &change.key;
    json!({ "id": id, "pk": partition, "n": change.state, "_etag": change.etag })
}

fn parse(item: &Value, partition: &str) -> (Key, State) {
    let id = item["id"].as_str().expect("an id");
    ((partition.to_owned(), id.to_owned()), item["n"].as_u64())
}

fn json(body: &Bytes) -> Value {
    serde_json::from_slice(body).expect("a body of JSON")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn partition(headers: &HeaderMap) -> String {
    let key = text(headers, &headers::PARTITION_KEY).expect("a partition key");
    let [key]: [String; 1] = serde_json::from_str(key).expect("a partition key");
    key
}

/// The simulation's time, the same on every host.
fn now() -> std::time::Duration {
    turmoil::sim_elapsed().expect("a simulation")
}
