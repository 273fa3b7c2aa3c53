//! Host names to addresses, looked up for every new connection.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cosmos_core::BoxError;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

/// A look-up under way.
pub type Resolving = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, BoxError>> + Send>>;

/// Looks up host names in place of the system's resolver.
///
/// Asked once for each new connection, so a changed name is seen by the next one. Hosts that are
/// IP addresses are not looked up. Implemented for closures from `&str` to [`Resolving`].
pub trait Resolve: Send + Sync + 'static {
    /// Looks up a host's addresses. An error, and an empty answer, fail the request as
    /// [`FailureKind::Dns`](cosmos_core::FailureKind::Dns).
    fn resolve(&self, host: &str) -> Resolving;
}

impl<F> Resolve for F
where
    F: Fn(&str) -> Resolving + Send + Sync + 'static,
{
    fn resolve(&self, host: &str) -> Resolving {
        self(host)
    }
}

/// The name did not resolve. Found by its type among the causes of a failed connect.
#[derive(Debug, thiserror::Error)]
#[error("no address for {host}")]
pub(super) struct LookupFailed {
    host: String,
    source: Option<BoxError>,
}

/// The resolver under the connector: the system's, or the one that was given.
#[derive(Clone)]
pub(super) struct Resolver(Option<Arc<dyn Resolve>>);

impl Resolver {
    pub(super) fn new(given: Option<Arc<dyn Resolve>>) -> Self {
        Self(given)
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resolver")
            .field(if self.0.is_some() {
                &"given"
            } else {
                &"system"
            })
            .finish()
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = LookupFailed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LookupFailed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LookupFailed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let given = self.0.clone();
        Box::pin(async move {
            let found = match given {
                // The connector puts the port in.
                Some(given) => given.resolve(name.as_str()).await.map(|addresses| {
                    let with_port = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0));
                    with_port.collect::<Vec<_>>()
                }),
                None => GaiResolver::new()
                    .call(name.clone())
                    .await
                    .map(Iterator::collect)
                    .map_err(Into::into),
            };
            match found {
                Ok(addresses) if addresses.is_empty() => Err(None),
                Ok(addresses) => Ok(addresses.into_iter()),
                Err(error) => Err(Some(error)),
            }
            .map_err(|source| LookupFailed {
                host: name.as_str().to_owned(),
                source,
            })
        })
    }
}
