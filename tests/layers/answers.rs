//! What the caller gets is what a region answered last, whole; what came before leaves nothing.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use cosmos_core::{OperationOptions, Outcome, Status, requests};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{
    Lab, Req, account, boxed, create, credential, ms, read, recommended, s, send, with,
};
use http::{HeaderName, Response};
use http_body_util::Full;
use parking_lot::Mutex;
use tower::{Layer, service_fn};
use tower_cosmos::EndpointLayer;

const ACTIVITY: HeaderName = HeaderName::from_static("x-ms-activity-id");
const CONTINUATION: HeaderName = HeaderName::from_static("x-ms-continuation");

#[tokio::test(start_paused = true)]
async fn once_the_budget_is_spent_the_last_answer_comes_back_whole() {
    for (code, substatus, attempts) in [
        (429, 3200, 10),
        (503, 21008, 4),
        (500, 0, 4),
        (408, 0, 4),
        (410, 1002, 4),
        (403, 3, 121),
        (403, 1008, 121),
        (404, 1002, 2),
    ] {
        let lab = Lab::new(Document::multi_write(["A"]));
        for attempt in 1..=attempts {
            let answer = Step::status(code, substatus)
                .header(ACTIVITY, &attempt.to_string())
                .body(format!("answer {attempt}"));
            lab.regions.script("A", [answer]);
        }
        let seen = lab.send(create()).await;
        assert_eq!(lab.wire().len(), attempts, "{code}/{substatus}");
        assert_eq!(seen.status(), Status::new(code, substatus));
        let headers = seen.result.as_ref().unwrap().headers().clone();
        assert_eq!(headers[ACTIVITY], attempts.to_string());
        assert_eq!(seen.text().await, format!("answer {attempts}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_failed_at_first_is_the_page_of_the_region_that_answered() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    let failed = Step::status(503, 0).header(CONTINUATION, "of A");
    lab.regions.script("A", [failed.body("none")]);
    let page = Step::status(200, 0).header(CONTINUATION, "of B");
    lab.regions.script("B", [page.body("[1,2]")]);
    let query = requests::query_items("d", "c", "SELECT * FROM c").build();
    let seen = lab.send(query.unwrap()).await;
    let headers = seen.result.as_ref().unwrap().headers().clone();
    assert_eq!(headers[CONTINUATION], "of B");
    assert_eq!(seen.text().await, "[1,2]");
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_the_journal_still_tells_what_the_regions_answered() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", [Step::status(503, 21008)]);
    lab.regions.script("B", [Step::hang()]);
    let options = OperationOptions::new().timeout(s(1));
    let seen = lab.send(with(read(), options)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    let attempts = seen.journal.unwrap().attempts();
    let outcomes: Vec<_> = attempts.iter().map(|attempt| attempt.outcome).collect();
    let unavailable = Outcome::Answered(Status::new(503, 21008));
    assert_eq!(outcomes, [unavailable, Outcome::Abandoned]);
}

/// A body that can be told to have been dropped.
struct Held {
    data: &'static [u8],
    _open: Arc<()>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.data
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_answer_is_dropped_before_the_wait() {
    for (code, substatus) in [(429, 3200), (449, 0), (403, 1008), (503, 0), (410, 1002)] {
        let regions = ScriptedAccount::new(Document::multi_write(["A"]));
        let account = account(&regions, |account| account);
        account.refresh().await;
        // Twice around, so that clones of the leaf do not count.
        let open = Arc::new(Arc::new(()));
        let counted = Arc::clone(&open);
        let leaf = service_fn(move |_: Req| {
            let held = Held {
                data: b"{}",
                _open: Arc::clone(&*counted),
            };
            let mut response = Response::new(Full::new(Bytes::from_owner(held)));
            *response.status_mut() = http::StatusCode::from_u16(code).unwrap();
            let headers = response.headers_mut();
            headers.insert("x-ms-substatus", substatus.into());
            headers.insert("x-ms-retry-after-ms", 500.into());
            async { Ok::<_, Infallible>(response) }
        });
        let stack = boxed(recommended(&account).layer(leaf));
        let mut sending = Box::pin(send(&stack, read()));
        // Answered at once; every wait is longer than a millisecond.
        let waited = tokio::time::timeout(ms(1), &mut sending).await;
        assert!(waited.is_err(), "{code}/{substatus}");
        assert_eq!(Arc::strong_count(&*open), 1, "{code}/{substatus}");
    }
}

/// Something of the caller's that the leaf is to see.
#[derive(Clone, Debug, PartialEq)]
struct Tag(&'static str);

#[tokio::test(start_paused = true)]
async fn the_callers_own_extensions_reach_every_attempt() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    let (status, hint) = (Step::status(429, 0), "1");
    regions.script("A", [status.hint(hint), Step::status(503, 0)]);
    regions.script("B", [Step::status(404, 1002)]);
    let tags = Arc::new(Mutex::new(Vec::new()));
    let (seen, inner) = (Arc::clone(&tags), regions.clone());
    let leaf = service_fn(move |request: Req| {
        seen.lock().push(request.extensions().get::<Tag>().cloned());
        tower::ServiceExt::oneshot(inner.clone(), request)
    });
    let mut request = read();
    request.extensions_mut().insert(Tag("mine"));
    let stack = boxed(recommended(&account).layer(leaf));
    assert_eq!(send(&stack, request).await.status().code(), 200);
    assert_eq!(regions.wire().len(), 4, "{}", regions.wire());
    assert_eq!(*tags.lock(), vec![Some(Tag("mine")); 4]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_back_whole_through_every_layer_alone() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    let answer = Step::status(409, 0).header(ACTIVITY, "7").body("taken");
    regions.script("A", [answer.forever()]);
    let bare = EndpointLayer::new(account.clone()).layer(
        tower_cosmos::SigningLayer::new(credential())
            .layer(tower_cosmos::BufferLayer::new().layer(regions.clone())),
    );
    for stack in [
        boxed(bare),
        boxed(recommended(&account).layer(regions.clone())),
    ] {
        let seen = send(&stack, create()).await;
        assert_eq!(seen.result.as_ref().unwrap().headers()[ACTIVITY], "7");
        assert_eq!(seen.text().await, "taken");
    }
}
