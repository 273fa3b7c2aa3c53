//! What knows nothing of regions: a hyper client of the preferred one that signs, below a timeout, and
//! the same below `tower::retry`.

use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use cosmos_core::headers::{self, value};
use cosmos_core::signing::{MasterKey, http_date};
use cosmos_core::{BoxError, Operation as Kind, Status};
use http::uri::Authority;
use http::{HeaderValue, Response};
use http_body_util::BodyExt;
use tower::retry::Policy;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

use super::{Answer, Client, Performing, request, root};
use crate::compare::availability::load::Operation;
use crate::compare::availability::scene::{DEADLINE, PREFERRED, Scene};
use crate::instant::Req;
use crate::plain::{Hyper, address, hyper, region};

type Whole = Response<Bytes>;

/// One attempt.
pub(super) fn once(scene: &Scene) -> Result<Arc<dyn Client>, BoxError> {
    let plain = Plain::new(scene)?;
    let send = service_fn(move |request| plain.clone().send(request));
    let service = ServiceBuilder::new().timeout(DEADLINE).service(send);
    Ok(Arc::new(Composed(service)))
}

/// Three attempts, one right after the other, whatever went wrong.
pub(super) fn again(scene: &Scene) -> Result<Arc<dyn Client>, BoxError> {
    let plain = Plain::new(scene)?;
    let send = service_fn(move |request| plain.clone().send(request));
    let service = ServiceBuilder::new()
        .timeout(DEADLINE)
        .retry(Attempts { left: 3 - 1 })
        .service(send);
    Ok(Arc::new(Composed(service)))
}

/// A client of one region.
#[derive(Clone, Debug)]
struct Plain {
    client: Hyper,
    key: MasterKey,
    region: Authority,
}

impl Plain {
    fn new(scene: &Scene) -> Result<Self, BoxError> {
        let endpoint = scene.account.region_endpoint(PREFERRED);
        let endpoint = endpoint.ok_or("no such region")?;
        Ok(Self {
            client: hyper(true),
            key: MasterKey::from_base64(scene.account.key())?,
            region: region(&endpoint)?,
        })
    }

    async fn send(self, mut request: Req) -> Result<Whole, BoxError> {
        // What every request to the service carries.
        let date = http_date(now());
        let signature = self.key.sign(request.method(), request.uri().path(), &date);
        let kind = Kind::classify(request.method(), request.uri().path(), request.headers());
        let map = request.headers_mut();
        map.insert(headers::AUTHORIZATION, signature);
        map.insert(headers::DATE, HeaderValue::try_from(date)?);
        if kind.is_some_and(Kind::is_write) {
            map.insert(headers::ALLOW_TENTATIVE_WRITES, value::TRUE);
        }
        address(&mut request, &self.region)?;

        let (parts, body) = self.client.request(request).await?.into_parts();
        // An answer is one when all of it is there.
        let body = body.collect().await?.to_bytes();
        Ok(Response::from_parts(parts, body))
    }
}

/// Tries again after an error or a status that is no success.
#[derive(Copy, Clone, Debug)]
struct Attempts {
    left: u32,
}

impl Policy<Req, Whole, BoxError> for Attempts {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut Req, result: &mut Result<Whole, BoxError>) -> Option<Self::Future> {
        let good = result
            .as_ref()
            .is_ok_and(|response| response.status().is_success());
        let again = !good && self.left > 0;
        self.left = self.left.saturating_sub(1);
        again.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

struct Composed<S>(S);

impl<S> Client for Composed<S>
where
    S: Service<Req, Response = Whole, Error = BoxError, Future: Send> + Clone + Send + Sync,
{
    fn perform(&self, operation: Operation) -> Performing<'_> {
        let service = self.0.clone();
        Box::pin(async move {
            let request = match request(operation) {
                Ok(request) => request,
                Err(error) => return Answer::failed(error.to_string()),
            };
            match service.oneshot(request).await {
                Ok(response) if response.status().is_success() => Answer::good(),
                Ok(response) => Answer::failed(Status::of_response(&response).to_string()),
                Err(error) => Answer::failed(root(&*error)),
            }
        })
    }
}

impl<S> fmt::Debug for Composed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Composed").finish_non_exhaustive()
    }
}

/// The wall time, for the date that is signed.
#[allow(clippy::disallowed_methods)]
fn now() -> SystemTime {
    SystemTime::now()
}
