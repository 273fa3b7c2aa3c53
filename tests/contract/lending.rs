//! A layer that may try again lends the service below to the operation under way, and clones it only
//! if it is asked for the service before that is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use cosmos_core::{BoxError, OperationOptions};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Req, Stack, account, boxed, ms, read, s, with};
use tokio_test::task;
use tower::limit::ConcurrencyLimit;
use tower::{Service, ServiceExt};

use crate::kinds::{Kind, alone, known_regions, leaf};

/// The layers that may try again.
const RETRYING: [Kind; 5] = [
    Kind::Failover,
    Kind::Session,
    Kind::RetryWith,
    Kind::Throttle,
    Kind::Reconnect,
];

/// Counts its clones.
struct Counted {
    inner: Stack,
    clones: Arc<AtomicUsize>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        Self {
            inner: self.inner.clone(),
            clones: Arc::clone(&self.clones),
        }
    }
}

impl Service<Req> for Counted {
    type Response = <Stack as Service<Req>>::Response;
    type Error = BoxError;
    type Future = <Stack as Service<Req>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        self.inner.call(request)
    }
}

/// A layer over a service that counts its clones, and how many there were since.
async fn counted(kind: Kind) -> (Stack, ScriptedAccount, impl Fn() -> usize) {
    let regions = known_regions(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let clones = Arc::new(AtomicUsize::new(0));
    let inner = Counted {
        inner: leaf(&regions),
        clones: Arc::clone(&clones),
    };
    let stack = alone(kind, &account, boxed(inner));
    (stack, regions, move || clones.swap(0, Ordering::Relaxed))
}

async fn status(stack: &mut Stack) -> u16 {
    let ready = stack.ready().await.unwrap();
    ready.call(read()).await.unwrap().status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn operations_one_after_another_clone_nothing() {
    for kind in RETRYING {
        let (mut stack, regions, clones) = counted(kind).await;
        clones();
        for _ in 0..3 {
            assert_eq!(status(&mut stack).await, 200);
        }
        assert_eq!(clones(), 0, "{kind:?}");
        if kind == Kind::Failover {
            // A further try takes the service away from the handle, which goes on with a clone.
            regions.script("A", [Step::status(503, 0)]);
            assert_eq!(status(&mut stack).await, 200);
            assert_eq!(clones(), 1);
            // Without a handle there is nobody to leave one to.
            regions.script("A", [Step::status(503, 0)]);
            let operation = stack.ready().await.unwrap().call(read());
            drop(stack);
            assert_eq!(operation.await.unwrap().status(), 200);
            assert_eq!(clones(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_lent_is_cloned_for_the_next_operation() {
    for kind in RETRYING {
        let (mut stack, regions, clones) = counted(kind).await;
        regions.script("A", [Step::status(200, 0).after(ms(20))]);
        clones();
        let slow = stack.ready().await.unwrap().call(read());
        let mut slow = task::spawn(slow);
        assert!(slow.poll().is_pending(), "{kind:?}");
        assert_eq!(status(&mut stack).await, 200, "{kind:?}");
        assert_eq!(clones(), 1, "{kind:?}");
        assert_eq!(slow.await.unwrap().status(), 200, "{kind:?}");
        // Each has its own by now.
        assert_eq!(status(&mut stack).await, 200, "{kind:?}");
        assert_eq!(clones(), 0, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_queues_for_its_next_try_leaves_the_queue_with_its_future() {
    let regions = known_regions(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let limited = ConcurrencyLimit::new(leaf(&regions), 1);
    let mut stack = alone(Kind::Failover, &account, boxed(limited.clone()));
    regions.script("A", [Step::status(503, 0).after(ms(5))]);
    let request = with(read(), OperationOptions::new().timeout(s(5)));
    let operation = stack.ready().await.unwrap().call(request);
    let mut operation = task::spawn(operation);
    assert!(operation.poll().is_pending());
    // Queues for the only permit, and gets it before the operation's second try does.
    let mut hog = limited.clone();
    let mut waiting = task::spawn(hog.ready());
    assert!(waiting.poll().is_pending());
    tokio::time::sleep(ms(10)).await;
    assert!(operation.poll().is_pending(), "in the queue");
    drop(operation);
    drop(waiting);
    drop(hog);
    // Whoever the stack's place in the queue was left to would hold the permit from now on.
    let mut other = limited;
    let ready = tokio::time::timeout(s(1), other.ready()).await;
    assert!(ready.is_ok(), "while the stack lives");
    drop(stack);
}
