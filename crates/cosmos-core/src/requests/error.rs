//! Why a request cannot be built.

use http::HeaderName;

use crate::operation::Resource;

/// Why a request cannot be built. The first thing that went wrong is the one that is told.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// An id is empty.
    #[error("the id of the resource ({0:?}) is empty")]
    EmptyId(Resource),
    /// An id is `.` or `..`, or holds one of `/ \ ? #`.
    #[error("the id of the resource ({0:?}) is `.` or `..`, or holds one of `/ \\ ? #`")]
    IllegalId(Resource),
    /// A text is not the name of a header.
    #[error("a header's name is not allowed")]
    HeaderName,
    /// A text cannot be the value of this header.
    #[error("the value of the header `{0}` is not allowed")]
    HeaderValue(HeaderName),
    /// The most items of a page are neither a positive number nor -1.
    #[error("a page cannot have at most {0} items: neither a positive number nor -1")]
    MaxItemCount(i32),
    /// The body cannot be written as JSON.
    #[error("the body cannot be written as JSON")]
    Body(#[source] serde_json::Error),
    /// The path is not one, which only happens when it is too long.
    #[error("the path is too long")]
    Path(#[source] http::uri::InvalidUri),
}
