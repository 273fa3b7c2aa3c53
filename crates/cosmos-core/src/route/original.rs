//! One copy of a request for all layers that may send it again.
//!
//! A copy costs more than all else that a healthy operation meets in the layers, and each layer that
//! retries needs one. The first of them makes it and lets the request carry it on. Those below keep
//! the same one, as long as nobody in between has changed the request: that shows in where its
//! texts lie, so nothing is compared byte by byte.
//!
//! It is known only of bodies that are [`Full`] whether they are still the same, and of extensions that
//! are ours; a layer that gets another request makes a copy of its own.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, Version};
use http_body::Body as _;
use http_body_util::Full;

use super::{OperationOptions, Route};

/// A copy of the request that carries it: a request extension.
#[derive(Clone)]
pub struct Original(Arc<Copied>);

struct Copied {
    method: Method,
    uri: Uri,
    version: Version,
    headers: HeaderMap,
    body: Bytes,
    options: Option<OperationOptions>,
}

impl Original {
    /// The copy of a request: the one that it carries, if it is still the same, or a new one, which it
    /// carries from now on. `None` for a request that may be copied only as a whole.
    #[must_use]
    pub fn keep<B: 'static>(request: &mut Request<B>) -> Option<Self> {
        let body = body_of(request.body())?;
        let extensions = request.extensions();
        let carried = extensions.get::<Self>();
        let ours =
            usize::from(extensions.get::<Route>().is_some()) + usize::from(carried.is_some());
        // Looked for only if there is something more: most have none.
        let more = || extensions.get::<OperationOptions>();
        let options = (extensions.len() > ours).then(more).flatten();
        if extensions.len() != ours + usize::from(options.is_some()) {
            return None;
        }
        if let Some(original) = carried {
            let is_same = original.0.is(request, &body, options);
            return is_same.then(|| original.clone());
        }
        let original = Self(Arc::new(Copied {
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            headers: request.headers().clone(),
            body,
            options: options.cloned(),
        }));
        request.extensions_mut().insert(original.clone());
        Some(original)
    }

    /// The request, on the way that this route says. `None` for another type of body than that of
    /// the request that was kept.
    #[must_use]
    pub fn request<B: 'static>(&self, route: Route) -> Option<Request<B>> {
        let copied = &*self.0;
        let mut request = Request::new(body_from(copied.body.clone())?);
        *request.method_mut() = copied.method.clone();
        *request.uri_mut() = copied.uri.clone();
        *request.version_mut() = copied.version;
        *request.headers_mut() = copied.headers.clone();
        let extensions = request.extensions_mut();
        if let Some(options) = &copied.options {
            extensions.insert(options.clone());
        }
        extensions.insert(route);
        extensions.insert(self.clone());
        Some(request)
    }
}

impl Copied {
    fn is<B>(
        &self,
        request: &Request<B>,
        body: &Bytes,
        options: Option<&OperationOptions>,
    ) -> bool {
        let pairs = || self.headers.iter().zip(request.headers());
        self.method == request.method()
            && self.version == request.version()
            && is_same_uri(&self.uri, request.uri())
            && is_same(&self.body, body)
            && self.options.as_ref() == options
            && self.headers.len() == request.headers().len()
            && pairs().all(|((name, value), (other_name, other))| {
                is_same(name.as_str().as_bytes(), other_name.as_str().as_bytes())
                    && is_same_value(value, other)
            })
    }
}

/// Whether two texts are one and the same. The copy holds on to its own, so no other can lie there.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other) || one.is_empty() && other.is_empty()
}

fn is_same_value(one: &HeaderValue, other: &HeaderValue) -> bool {
    is_same(one.as_bytes(), other.as_bytes()) && one.is_sensitive() == other.is_sensitive()
}

fn is_same_uri(one: &Uri, other: &Uri) -> bool {
    let path = |uri| Uri::path_and_query(uri).map_or("", PathAndQuery::as_str);
    let authority = |uri| Uri::authority(uri).map_or("", Authority::as_str);
    is_same(path(one).as_bytes(), path(other).as_bytes())
        && is_same(authority(one).as_bytes(), authority(other).as_bytes())
        && one.scheme() == other.scheme()
}

/// The bytes of a body that has them all at hand.
fn body_of<B: 'static>(body: &B) -> Option<Bytes> {
    let full = (body as &dyn Any).downcast_ref::<Full<Bytes>>()?;
    if full.is_end_stream() {
        return Some(Bytes::new());
    }
    let mut full = full.clone();
    let polled = Pin::new(&mut full).poll_frame(&mut Context::from_waker(Waker::noop()));
    match polled {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        _ => Some(Bytes::new()),
    }
}

fn body_from<B: 'static>(bytes: Bytes) -> Option<B> {
    let mut body = None::<B>;
    let full = (&mut body as &mut dyn Any).downcast_mut::<Option<Full<Bytes>>>()?;
    *full = Some(Full::new(bytes));
    body
}

impl fmt::Debug for Original {
    /// Without what the request says.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Original").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests;

    fn request() -> Request<Full<Bytes>> {
        let body = Bytes::from_static(b"{\"id\":\"1\"}");
        let request = requests::create_item("d", "c", &"p".into(), body);
        request.header("x-own", "a").build().unwrap()
    }

    fn kept() -> (Request<Full<Bytes>>, Original) {
        let mut request = request();
        let original = Original::keep(&mut request).unwrap();
        (request, original)
    }

    #[test]
    fn those_below_keep_the_same_copy() {
        let (mut request, original) = kept();
        let same = Original::keep(&mut request).unwrap();
        assert!(Arc::ptr_eq(&same.0, &original.0));
        // A copy of the request lies where the request does.
        let same = Original::keep(&mut request.clone()).unwrap();
        assert!(Arc::ptr_eq(&same.0, &original.0));
    }

    #[test]
    fn a_request_that_was_changed_on_the_way_is_not_taken_for_the_copy() {
        let changes: [fn(&mut Request<Full<Bytes>>); 9] = [
            |request| *request.method_mut() = Method::PUT,
            |request| *request.version_mut() = Version::HTTP_2,
            |request| *request.uri_mut() = "/dbs/d/colls/c/docs".parse().unwrap(),
            |request| *request.body_mut() = Full::new(Bytes::copy_from_slice(b"{\"id\":\"1\"}")),
            |request| *request.body_mut() = Full::default(),
            |request| {
                request.headers_mut().append("x-own", "a".parse().unwrap());
            },
            |request| {
                request.headers_mut().insert("x-own", "a".parse().unwrap());
            },
            |request| {
                request.headers_mut().remove("x-own");
            },
            |request| {
                let value = request.headers_mut().get_mut("x-own").unwrap();
                value.set_sensitive(true);
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let (mut request, _) = kept();
            change(&mut request);
            assert!(Original::keep(&mut request).is_none(), "{number}");
        }
    }

    #[test]
    fn a_request_whose_options_were_changed_on_the_way_is_not_taken_for_the_copy() {
        let with = |options: OperationOptions| {
            let mut request = request();
            request.extensions_mut().insert(options);
            let original = Original::keep(&mut request).unwrap();
            (request, original)
        };
        let slot = crate::JournalSlot::new();
        let options = OperationOptions::new().journal_slot(&slot);
        let (mut request, original) = with(options.clone());
        let same = Original::keep(&mut request).unwrap();
        assert!(Arc::ptr_eq(&same.0, &original.0));
        let others = [
            OperationOptions::new(),
            OperationOptions::new().journal_slot(&crate::JournalSlot::new()),
            options.clone().timeout(std::time::Duration::from_secs(1)),
        ];
        for other in others {
            let (mut request, _) = with(options.clone());
            request.extensions_mut().insert(other);
            assert!(Original::keep(&mut request).is_none());
        }
        let (mut request, _) = with(options);
        request.extensions_mut().remove::<OperationOptions>();
        assert!(Original::keep(&mut request).is_none());
    }

    #[test]
    fn what_others_put_on_is_copied_as_a_whole() {
        let mut request = request();
        request.extensions_mut().insert("another layer's");
        assert!(Original::keep(&mut request).is_none());
        let (mut request, _) = kept();
        request.extensions_mut().insert("another layer's");
        assert!(Original::keep(&mut request).is_none());
        let mut streamed = request.map(|_| "not a body that is known");
        assert!(Original::keep(&mut streamed).is_none());
    }

    #[test]
    fn what_is_sent_again_is_what_was_kept() {
        let (first, original) = kept();
        let mut operation = request();
        #[allow(clippy::disallowed_methods)]
        let now = std::time::Instant::now();
        let route = Route::enter(&mut operation, now).unwrap().route;
        let again: Request<Full<Bytes>> = original.request(route.clone()).unwrap();
        assert_eq!(again.method(), first.method());
        assert_eq!(again.uri(), first.uri());
        assert_eq!(again.headers(), first.headers());
        assert_eq!(body_of(again.body()), body_of(first.body()));
        assert!(again.extensions().get::<Route>().is_some());
        let mut again = again;
        let same = Original::keep(&mut again).unwrap();
        assert!(Arc::ptr_eq(&same.0, &original.0));
        assert!(original.request::<&str>(route).is_none());
    }
}
