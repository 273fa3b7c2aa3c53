//! `SessionTokenLayer`: what is learned, and what is sent.

use bytes::Bytes;
use cosmos_core::{OperationOptions, requests};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{
    Lab, Stack, boxed, create, ms, read, read_metadata, recommended, s, send, with,
};
use http::HeaderName;
use tower::Layer;
use tower_cosmos::{BufferLayer, EndpointLayer, RegionFailoverLayer, SessionTokenLayer};

const TOKEN: HeaderName = HeaderName::from_static("x-ms-session-token");

fn stack(lab: &Lab) -> Stack {
    let layers = recommended(&lab.account).session_token(|layer| layer.enabled(true));
    boxed(layers.layer(lab.regions.clone()))
}

fn last_token(lab: &Lab) -> String {
    lab.wire()
        .0
        .last()
        .expect("a request")
        .header("x-ms-session-token")
        .to_owned()
}

#[tokio::test(start_paused = true)]
async fn answers_teach_except_those_that_say_the_region_lags_or_fails() {
    for (code, substatus, teaches) in [
        (200, 0, true),
        (201, 0, true),
        (304, 0, true),
        (404, 0, true),
        (409, 0, true),
        (412, 0, true),
        (404, 1002, false),
        (400, 0, false),
        (429, 0, false),
        (449, 0, false),
        (410, 0, false),
        (503, 0, false),
        (408, 0, false),
    ] {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        let stack = stack(&lab);
        lab.regions.script(
            "A",
            [Step::status(code, substatus).header(TOKEN, "0:1#7#1=5")],
        );
        let _ = send(&stack, read()).await;
        let _ = send(&stack, read()).await;
        let expected = if teaches { "0:1#7#1=5" } else { "" };
        assert_eq!(last_token(&lab), expected, "{code}/{substatus}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_of_an_operation_carries_the_same_token() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let stack = stack(&lab);
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#1")]);
    let _ = send(&stack, read()).await;
    lab.regions.clear_wire();
    // The failed attempt's answer says more, but the operation keeps what it began with.
    lab.regions
        .script("A", [Step::status(404, 1002).header(TOKEN, "0:1#9")]);
    lab.regions
        .script("B", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    assert!(send(&stack, read()).await.status().is_success());
    let sent: Vec<_> = lab
        .wire()
        .0
        .iter()
        .map(|e| e.header("x-ms-session-token").to_owned())
        .collect();
    assert_eq!(sent, ["0:1#1", "0:1#1"]);
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "0:1#9");
}

/// Found by the simulation: below a layer that retries, the second try carried what the answer to
/// another operation had taught meanwhile.
#[tokio::test(start_paused = true)]
async fn an_operation_that_began_without_a_token_stays_without_one() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let attempt = EndpointLayer::new(lab.account.clone()).layer(lab.regions.clone());
    let tokens = SessionTokenLayer::new(lab.account.clone()).layer(attempt);
    let failover = RegionFailoverLayer::new(lab.account.clone()).layer(tokens);
    let stack = boxed(BufferLayer::new().layer(failover));
    lab.account.refresh().await;
    lab.regions.script("A", [Step::status(503, 0).after(s(1))]);
    let slow = tokio::spawn({
        let stack = stack.clone();
        async move { send(&stack, read()).await }
    });
    tokio::time::sleep(ms(1)).await;
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    let _ = send(&stack, read()).await;
    assert!(slow.await.expect("no panic").status().is_success());
    assert_eq!(lab.wire().regions(), "A A B");
    assert_eq!(last_token(&lab), "");
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "0:1#9");
}

#[tokio::test(start_paused = true)]
async fn the_callers_token_wins_and_stays() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    let _ = send(&stack, read()).await;
    let mut request = read();
    request
        .headers_mut()
        .insert(TOKEN, "0:1#2".parse().unwrap());
    let _ = send(&stack, request).await;
    assert_eq!(last_token(&lab), "0:1#2");
}

#[tokio::test(start_paused = true)]
async fn writes_carry_a_token_only_where_every_region_accepts_them() {
    for (document, expected) in [
        (Document::multi_write(["A", "B"]), "0:1#9"),
        (Document::single_write(["A", "B"]), ""),
    ] {
        let lab = Lab::new(document);
        let stack = stack(&lab);
        lab.regions
            .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
        let _ = send(&stack, read()).await;
        let _ = send(&stack, create()).await;
        assert_eq!(last_token(&lab), expected);
        let _ = send(&stack, read_metadata()).await;
        assert_eq!(last_token(&lab), "", "never on metadata");
    }
}

#[tokio::test(start_paused = true)]
async fn only_session_consistency_needs_tokens() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    let _ = send(&stack, read()).await;
    for (name, level, expected) in [
        ("x-ms-consistency-level", "Eventual", ""),
        ("x-ms-consistency-level", "Session", "0:1#9"),
        (
            "x-ms-cosmos-read-consistency-strategy",
            "LatestCommitted",
            "",
        ),
    ] {
        let mut request = read();
        request.headers_mut().insert(name, level.parse().unwrap());
        let _ = send(&stack, request).await;
        assert_eq!(last_token(&lab), expected, "{level}");
    }
    let eventual = Document::multi_write(["A"])
        .to_json()
        .replace("Session", "Eventual");
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.regions.set_raw_document(eventual);
    let stack = self::stack(&lab);
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    let _ = send(&stack, read()).await;
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "");
}

#[tokio::test(start_paused = true)]
async fn a_known_range_gets_its_own_token_only() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    let range = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");
    lab.regions.script(
        "A",
        [
            Step::status(200, 0)
                .header(TOKEN, "0:1#9")
                .header(range.clone(), "0"),
            Step::status(200, 0)
                .header(TOKEN, "1:1#4")
                .header(range, "1"),
        ],
    );
    let _ = send(&stack, read()).await;
    let _ = send(&stack, read()).await;
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "0:1#9,1:1#4");
    let _ = send(
        &stack,
        with(read(), OperationOptions::new().partition_key_range("1")),
    )
    .await;
    assert_eq!(last_token(&lab), "1:1#4");
}

#[tokio::test(start_paused = true)]
async fn containers_stay_apart_and_a_deleted_one_is_forgotten() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    lab.regions
        .script("A", [Step::status(200, 0).header(TOKEN, "0:1#9")]);
    let _ = send(&stack, read()).await;
    let other = requests::read_item("d", "other", "1", &"p".into())
        .build()
        .unwrap();
    let _ = send(&stack, other).await;
    assert_eq!(last_token(&lab), "");
    lab.regions.script("A", [Step::status(204, 0)]);
    let _ = send(
        &stack,
        requests::delete_container("d", "c").build().unwrap(),
    )
    .await;
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "");
}

#[tokio::test(start_paused = true)]
async fn tokens_that_are_none_are_ignored() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    let long = "9".repeat(50_000);
    for garbage in [
        "", "abc", "0", "0:", ":1", "0:x#1", "0:1#2#3", "\u{ff}", &long,
    ] {
        lab.regions
            .script("A", [Step::status(200, 0).header(TOKEN, garbage)]);
        let _ = send(&stack, read()).await;
    }
    lab.regions
        .script("A", [Step::status(200, 0).body(Bytes::from_static(b"{}"))]);
    let _ = send(&stack, read()).await;
    assert_eq!(last_token(&lab), "");
}

#[tokio::test(start_paused = true)]
async fn a_container_is_the_same_however_its_name_is_encoded() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    let answer = Step::status(200, 0).header(TOKEN, "0:1#9");
    lab.regions.script("A", [answer]);
    let request = requests::read_item("d", "a b%c", "1", &"p".into());
    let _ = send(&stack, request.build().unwrap()).await;
    for path in [
        "/dbs/d/colls/a%20b%25c/docs/2",
        "/dbs/d/colls/%61%20b%25%63/docs/2",
    ] {
        let mut request = read();
        *request.uri_mut() = path.parse().unwrap();
        let _ = send(&stack, request).await;
        assert_eq!(last_token(&lab), "0:1#9", "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_container_made_anew_under_its_name_starts_without_a_token() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let stack = stack(&lab);
    let rid = HeaderName::from_static("x-ms-content-path");
    for (path, token) in [("rid1", "0:1#90"), ("rid2", "0:1#3")] {
        let answer = Step::status(200, 0).header(TOKEN, token);
        lab.regions.script("A", [answer.header(rid.clone(), path)]);
        let _ = send(&stack, read()).await;
        let _ = send(&stack, read()).await;
        assert_eq!(last_token(&lab), token);
    }
}
