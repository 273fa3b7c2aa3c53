//! Services that are lent to the operations that call them.
//!
//! A further try has to go to the very service that was called, and whoever holds the layer may
//! call it again meanwhile. Cloning the service before each call does for both, but clones all
//! that is below once for each layer that may try again. So the service is lent: an operation
//! shares it until it is over, and only a lender that is asked for it before then makes a clone.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Request;
use parking_lot::Mutex;
use tower_service::Service;

/// A service, and whoever it is lent to.
pub(crate) struct Lender<S>(Arc<Shared<S>>);

/// A service that was called, for further tries.
pub(crate) enum Lent<S> {
    Shared(Arc<Shared<S>>),
    /// The operation waits for it to be ready, or it has failed: no longer the lender's.
    Kept(Box<S>),
}

/// Locked for the time of a call, of a look at its readiness, or of a clone.
pub(crate) struct Shared<S>(Mutex<S>);

impl<S> Lender<S> {
    pub(crate) fn new(service: S) -> Self {
        Self(Arc::new(Shared(Mutex::new(service))))
    }

    /// Lends the service that was called.
    pub(crate) fn lend(&self) -> Lent<S> {
        Lent::Shared(Arc::clone(&self.0))
    }
}

impl<S: Clone> Lender<S> {
    /// The service, for the lender alone: a clone if it is still lent.
    pub(crate) fn get(&mut self) -> &mut S {
        Arc::make_mut(&mut self.0).0.get_mut()
    }
}

impl<S: Clone> Lent<S> {
    /// Gets the service ready. Once it is, it has to be called before the operation waits again:
    /// the lender must not get it back with a readiness that keeps a place from others.
    pub(crate) fn poll_ready<B>(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>>
    where
        S: Service<Request<B>>,
    {
        let shared = match self {
            Self::Kept(service) => return service.poll_ready(cx),
            Self::Shared(shared) => shared,
        };
        let mut service = shared.0.lock();
        let ready = service.poll_ready(cx);
        if !matches!(ready, Poll::Ready(Ok(()))) {
            let clone = service.clone();
            let kept = Box::new(std::mem::replace(&mut *service, clone));
            drop(service);
            *self = Self::Kept(kept);
        }
        ready
    }

    /// Calls the service, which is ready.
    pub(crate) fn call<B>(&mut self, request: Request<B>) -> S::Future
    where
        S: Service<Request<B>>,
    {
        match self {
            Self::Shared(shared) => shared.0.lock().call(request),
            Self::Kept(service) => service.call(request),
        }
    }
}

impl<S: Clone> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().clone()))
    }
}

impl<S: Clone> Clone for Lender<S> {
    fn clone(&self) -> Self {
        Self(Arc::new(Shared::clone(&self.0)))
    }
}

impl<S: fmt::Debug> fmt::Debug for Lender<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.lock().fmt(f)
    }
}
