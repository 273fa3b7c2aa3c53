//! Two accounts in one stack.

use bytes::Bytes;
use cosmos_core::headers;
use cosmos_testbed::scripted::{Container, Document, ScriptedAccount, Step};
use cosmos_tests::{Req, Stack, boxed, create, credential, read, recommended, send};
use http::Uri;
use tower::{Layer, ServiceExt};
use tower_cosmos::{Account, Clock};

use super::{LINK, of};

struct Two {
    regions: [ScriptedAccount; 2],
    stack: Stack,
}

/// The layers of one account above those of another one, whose hosts are `other…`.
fn two(documents: [Document; 2], lookup: bool) -> Two {
    let raw = documents[1]
        .to_json()
        .replace("https://scripted-", "https://other-");
    let regions = documents.map(ScriptedAccount::new);
    regions[1].set_raw_document(Bytes::from(raw));
    let (first, second) = (regions[0].clone(), regions[1].clone());
    let leaf = boxed(tower::service_fn(move |mut request: Req| {
        let uri = request.uri().to_string();
        let service = if uri.starts_with("https://other") {
            *request.uri_mut() = uri
                .replacen("https://other", "https://scripted", 1)
                .parse()
                .unwrap();
            second.clone()
        } else {
            first.clone()
        };
        async move {
            let response = service.oneshot(request).await?;
            let (parts, body) = response.into_parts();
            let body = http_body_util::BodyExt::collect(body).await?.to_bytes();
            Ok::<_, cosmos_core::BoxError>(http::Response::from_parts(
                parts,
                http_body_util::Full::new(body),
            ))
        }
    }));
    let made = |endpoint: &str| -> Account {
        Account::builder(endpoint, credential())
            .preferred_regions(["A", "B", "C"])
            .clock(Clock::starting_at(std::time::SystemTime::UNIX_EPOCH))
            .build(leaf.clone())
            .unwrap()
    };
    let accounts = [made(ScriptedAccount::ENDPOINT), made("https://other.test/")];
    let layers = accounts
        .each_ref()
        .map(|account| recommended(account).partition(|layer| layer.enabled(lookup)));
    let stack = boxed(layers[0].layer(layers[1].layer(leaf)));
    Two { regions, stack }
}

fn other(mut request: Req) -> Req {
    let path = request.uri().path_and_query().unwrap().to_string();
    *request.uri_mut() = format!("https://other.test{path}").parse::<Uri>().unwrap();
    request
}

impl Two {
    async fn asked(&self, request: Req) -> [String; 2] {
        for regions in &self.regions {
            regions.clear_wire();
        }
        let _ = send(&self.stack, request).await;
        self.regions
            .each_ref()
            .map(|regions| regions.wire().regions())
    }
}

#[tokio::test(start_paused = true)]
async fn a_circuit_of_one_account_steers_no_request_of_another() {
    let both = two([super::multi(), super::multi()], false);
    assert_eq!(both.asked(of("0", read())).await, ["A", ""]);
    assert_eq!(both.asked(of("0", other(read()))).await, ["", "A"]);
    both.regions[1].script("A", vec![Step::status(503, 0); 10]);
    for _ in 0..10 {
        let _ = both.asked(of("0", other(read()))).await;
    }
    assert_eq!(both.asked(of("0", other(read()))).await, ["", "B"]);
    assert_eq!(both.asked(of("0", read())).await, ["A", ""]);
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_moved_in_one_account_moves_no_writes_of_another() {
    let moving = || Document::single_write(["A", "B", "C"]).per_partition_failover(true);
    let both = two([moving(), moving()], false);
    assert_eq!(both.asked(of("0", create())).await, ["A", ""]);
    both.regions[1].script("A", [Step::status(403, 3)]);
    assert_eq!(both.asked(of("0", other(create()))).await, ["", "A B"]);
    assert_eq!(both.asked(of("0", create())).await, ["A", ""]);
}

#[tokio::test(start_paused = true)]
async fn a_request_of_another_account_reads_no_container_of_this_one() {
    let both = two([super::multi(), super::multi()], true);
    both.regions[0].set_container(LINK, Container::new("rid").split("0", "3F", ["1", "2"]));
    both.regions[1].set_container(LINK, Container::new("other"));
    let seen = send(&both.stack, other(read())).await;
    let reads = both
        .regions
        .each_ref()
        .map(|regions| regions.container_reads().regions());
    let range = seen.journal.and_then(|journal| journal.range());
    assert_eq!(
        (reads[0].as_str(), range),
        ("", Some("0".into())),
        "{reads:?}"
    );
}

/// A circuit of the other account is not forgotten because of a container of this one.
#[tokio::test(start_paused = true)]
async fn answers_of_another_account_forget_no_container_of_this_one() {
    let both = two([super::multi(), super::multi()], true);
    both.regions[0].set_container(LINK, Container::new("rid"));
    both.regions[1].set_container(LINK, Container::new("other"));
    let _ = send(&both.stack, read()).await;
    both.regions[1].script(
        "A",
        [Step::status(200, 0)
            .header(headers::CONTENT_PATH, "other")
            .forever()],
    );
    both.regions[0].clear_wire();
    for _ in 0..10 {
        let _ = send(&both.stack, other(read())).await;
        let _ = send(&both.stack, read()).await;
    }
    let reads = both.regions[0].container_reads();
    assert!(reads.is_empty(), "{reads}");
}
