//! A layer that may try again lends the service below to the operation under way, and clones it only
//! if it is asked for the service before that is over.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use cosmos_core::{BoxError, OperationOptions};
use cosmos_testbed::scripted::{ScriptedAccount, Step};
use cosmos_tests::{Req, Stack, boxed, ms, read, s, with};
use tokio_test::task;
use tower::limit::ConcurrencyLimit;
use tower::{Service, ServiceExt};
use tower_cosmos::endpoint::Endpoint;
use tower_cosmos::region_failover::RegionFailover;

use crate::kinds::{Kind, alone, failover, has_permit, leaf, two_regions};

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

impl Counted {
    fn over(regions: &ScriptedAccount) -> (Self, Arc<AtomicUsize>) {
        let clones = Arc::new(AtomicUsize::new(0));
        let counted = Self {
            inner: leaf(regions),
            clones: Arc::clone(&clones),
        };
        (counted, clones)
    }
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
    let (regions, account) = two_regions().await;
    let (inner, clones) = Counted::over(&regions);
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
    let (regions, account) = two_regions().await;
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
    assert!(has_permit(limited).await, "while the stack lives");
    drop(stack);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_is_over_has_nothing_lent_while_its_future_lives() {
    let (regions, account) = two_regions().await;
    let (inner, clones) = Counted::over(&regions);
    let mut stack = failover(&account, inner);
    let mut over = stack.ready().await.unwrap().call(read());
    assert_eq!((&mut over).await.unwrap().status(), 200);
    clones.store(0, Ordering::Relaxed);
    let next = stack.ready().await.unwrap().call(read());
    assert_eq!(next.await.unwrap().status(), 200);
    assert_eq!(clones.load(Ordering::Relaxed), 0);
    drop(over);
}

/// Panics when it is called a second time; until then, its clones have never been called.
#[derive(Debug)]
struct Fragile<S> {
    inner: S,
    calls: usize,
}

impl<S: Clone> Clone for Fragile<S> {
    fn clone(&self) -> Self {
        let inner = self.inner.clone();
        Self { inner, calls: 0 }
    }
}

impl<S: Service<Req>> Service<Req> for Fragile<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        self.calls += 1;
        assert!(self.calls < 2, "called twice");
        self.inner.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_panics_under_a_further_try_is_not_given_back() {
    let (regions, account) = two_regions().await;
    let inner = Fragile {
        inner: ConcurrencyLimit::new(leaf(&regions), 1),
        calls: 0,
    };
    let mut stack = failover(&account, inner);
    regions.script("A", [Step::status(503, 0)]);
    let operation = tokio::spawn(stack.ready().await.unwrap().call(read()));
    assert!(operation.await.unwrap_err().is_panic());
    // Neither its state nor the permit that it had got is left with the handle.
    let next = stack.ready().await.unwrap().call(read());
    assert_eq!(next.await.unwrap().status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_handle_can_be_looked_at_from_within_its_own_service() {
    /// Formats whatever it finds when it is called.
    #[derive(Clone)]
    struct Curious<S> {
        inner: S,
        handle: Arc<OnceLock<Handle<S>>>,
    }

    type Handle<S> = parking_lot::Mutex<RegionFailover<Endpoint<Curious<S>>>>;

    impl<S> std::fmt::Debug for Curious<S> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Curious")
        }
    }

    impl<S: Service<Req>> Service<Req> for Curious<S> {
        type Response = S::Response;
        type Error = S::Error;
        type Future = S::Future;

        fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
            self.inner.poll_ready(cx)
        }

        fn call(&mut self, request: Req) -> Self::Future {
            let handle = self.handle.get().and_then(|handle| handle.try_lock());
            let shown = handle.map(|handle| format!("{handle:?}"));
            assert!(shown.is_none_or(|shown| shown.contains("Curious")));
            self.inner.call(request)
        }
    }

    let (regions, account) = two_regions().await;
    let handle = Arc::new(OnceLock::new());
    let inner = Curious {
        inner: leaf(&regions),
        handle: Arc::clone(&handle),
    };
    let stack = failover(&account, inner);
    let stack = handle.get_or_init(|| parking_lot::Mutex::new(stack));
    regions.script("A", [Step::status(503, 0)]);
    let operation = {
        let mut stack = stack.lock();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(stack.poll_ready(&mut cx).is_ready());
        stack.call(read())
    };
    assert_eq!(operation.await.unwrap().status(), 200);
}
