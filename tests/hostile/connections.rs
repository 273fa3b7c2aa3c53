//! A leaf with few connections, each in use until its answer's body is dropped.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cosmos_core::BoxError;
use cosmos_testbed::scripted::{Document, ScriptedAccount, ScriptedBody, Step};
use cosmos_tests::{Req, account, read, s};
use futures::future::BoxFuture;
use http::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::{EndpointLayer, RegionFailoverLayer};

/// A body that its connection cannot be used again without.
struct Answer(ScriptedBody, OwnedSemaphorePermit);

/// Ready when a connection is free.
struct Connections {
    regions: ScriptedAccount,
    free: Arc<Semaphore>,
    waiting: Option<BoxFuture<'static, OwnedSemaphorePermit>>,
    got: Option<OwnedSemaphorePermit>,
}

impl Connections {
    fn new(regions: ScriptedAccount, free: Arc<Semaphore>) -> Self {
        Self {
            regions,
            free,
            waiting: None,
            got: None,
        }
    }
}

impl Clone for Connections {
    fn clone(&self) -> Self {
        Self::new(self.regions.clone(), Arc::clone(&self.free))
    }
}

impl Service<Req> for Connections {
    type Response = Response<Answer>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.got.is_none() {
            let free = Arc::clone(&self.free);
            let waiting = self
                .waiting
                .get_or_insert_with(|| Box::pin(async { free.acquire_owned().await.unwrap() }));
            self.got = Some(ready!(waiting.as_mut().poll(cx)));
            self.waiting = None;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let connection = self.got.take().expect("polled ready before");
        let regions = self.regions.clone();
        Box::pin(async move {
            let response = regions.oneshot(request).await?;
            Ok(response.map(|body| Answer(body, connection)))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_holds_the_only_connection_is_dropped_before_the_next_try() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    regions.script("A", [Step::status(503, 0)]);
    let connections = Connections::new(regions.clone(), Arc::new(Semaphore::new(1)));
    let placed = EndpointLayer::new(account.clone()).layer(connections);
    let stack = RegionFailoverLayer::new(account).layer(placed);
    let ended = tokio::time::timeout(s(1000), stack.oneshot(read())).await;
    let response = ended.expect("it does not wait for itself").unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(regions.wire().regions(), "A B");
    let Answer(_body, _connection) = response.into_body();
}
