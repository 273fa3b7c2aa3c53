//! Which partition the operation is for, as far as it is known.

use std::borrow::Cow;
use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request};
use parking_lot::Mutex;

use super::{OperationOptions, Route};
use crate::{Journal, Operation, Partition, RangeId, Resource, headers};

/// What the request says of its partition, and what was found out.
#[derive(Debug, Default)]
pub(crate) struct Target {
    path: Option<PathAndQuery>,
    key: Option<HeaderValue>,
    container: Option<Link>,
    range: Mutex<Range>,
}

/// The container's link.
#[derive(Debug)]
enum Link {
    /// So many bytes of the path, after its first slash.
    InPath(usize),
    /// A text of its own, where the path has escapes.
    Own(Box<str>),
}

#[derive(Debug, Default)]
struct Range {
    id: Option<RangeId>,
    // The ranges that it was split or merged from.
    ancestors: Option<Arc<[RangeId]>>,
    // The version of the map that it was found in.
    version: u64,
    // The caller's word is not corrected.
    by_caller: bool,
    problem: Option<Box<str>>,
}

impl Target {
    pub(super) fn of_options(options: &OperationOptions) -> Self {
        let id = options.range().map(RangeId::new);
        Self {
            range: Mutex::new(Range {
                by_caller: id.is_some(),
                id,
                ..Range::default()
            }),
            ..Self::default()
        }
    }

    /// Adds what the request says.
    pub(super) fn read<B>(&mut self, operation: Operation, request: &Request<B>) {
        if operation.resource() == Resource::Container || operation.is_document() {
            self.container = Operation::container_in(request.uri().path()).map(Link::of);
            self.path = request.uri().path_and_query().cloned();
        }
        if !operation.is_document() {
            return;
        }
        self.key = request.headers().get(headers::PARTITION_KEY).cloned();
        let range = self.range.get_mut();
        if range.id.is_none() {
            range.id = range_of(request.headers());
            range.by_caller = range.id.is_some();
        }
    }

    fn container(&self) -> Option<&str> {
        match self.container.as_ref()? {
            Link::InPath(length) => {
                let path = self.path.as_ref()?.path();
                path.strip_prefix('/').unwrap_or(path).get(..*length)
            }
            Link::Own(link) => Some(link),
        }
    }
}

impl Link {
    fn of(link: Cow<'_, str>) -> Self {
        match link {
            Cow::Borrowed(piece) => Self::InPath(piece.len()),
            Cow::Owned(link) => Self::Own(link.into()),
        }
    }
}

impl Route {
    /// The link of the container that the operation is about or in, such as
    /// `dbs/shop/colls/carts`; `None` for operations on anything else.
    #[must_use]
    pub fn container(&self) -> Option<&str> {
        self.operation.target.container()
    }

    /// The partition key of the request, as its header.
    #[must_use]
    pub fn partition_key(&self) -> Option<&HeaderValue> {
        self.operation.target.key.as_ref()
    }

    /// The partition key range that the operation is for, if it is known.
    #[must_use]
    pub fn range(&self) -> Option<RangeId> {
        self.operation.target.range.lock().id.clone()
    }

    /// The ranges that the operation's one was split or merged from.
    #[must_use]
    pub fn ancestors(&self) -> Option<Arc<[RangeId]>> {
        self.operation.target.range.lock().ancestors.clone()
    }

    /// Whether the caller named the range, by an option or in a header.
    #[must_use]
    pub fn is_range_by_caller(&self) -> bool {
        self.operation.target.range.lock().by_caller
    }

    /// The version of the map that the operation's range was found in; 0 if it was not.
    #[must_use]
    pub fn range_version(&self) -> u64 {
        self.operation.target.range.lock().version
    }

    /// Sets the operation's range as it was found in a map, or that it is in none. What the caller
    /// said stays.
    pub fn set_range(&self, id: Option<RangeId>, ancestors: Option<Arc<[RangeId]>>, version: u64) {
        let mut range = self.operation.target.range.lock();
        if !range.by_caller {
            range.id = id;
            range.ancestors = ancestors;
            range.version = version;
            range.problem = None;
        }
    }

    /// Notes why the operation's range could not be found out.
    pub fn note_range_problem(&self, problem: &str) {
        self.operation.target.range.lock().problem = Some(problem.into());
    }

    /// Takes the range that an answer names for the operation's, if another one was taken for it.
    /// Returns whether it was.
    #[must_use]
    pub fn correct_range(&self, answer: &HeaderMap) -> bool {
        let mut range = self.operation.target.range.lock();
        if range.by_caller || range.id.is_none() {
            return false;
        }
        let named = range_of(answer).filter(|named| range.id.as_ref() != Some(named));
        let differs = named.is_some();
        if differs {
            range.id = named;
            range.ancestors = None;
        }
        differs
    }

    /// The partition that state is kept for: the operation's range, its container where the range
    /// is not known, or the account's metadata.
    pub fn with_partition<T>(&self, read: impl FnOnce(Partition<'_>) -> T) -> T {
        let container = self.container();
        let (true, Some(container)) = (self.operation().is_document(), container) else {
            return read(Partition::METADATA);
        };
        let range = self.range();
        read(Partition {
            container,
            range: range.as_ref(),
        })
    }
}

impl Journal {
    /// The partition key range that the operation was for, as far as it was known: from the
    /// caller, or found out.
    #[must_use]
    pub fn range(&self) -> Option<RangeId> {
        self.0.target.range.lock().id.clone()
    }

    /// Why the operation's range could not be found out; then it went on without.
    #[must_use]
    pub fn range_problem(&self) -> Option<String> {
        let range = self.0.target.range.lock();
        range.problem.as_deref().map(str::to_owned)
    }
}

/// The partition key range that a request or an answer names.
fn range_of(map: &HeaderMap) -> Option<RangeId> {
    let text = map.get(headers::PARTITION_KEY_RANGE_ID)?.to_str().ok()?;
    let id = text.trim();
    (!id.is_empty()).then(|| RangeId::new(id))
}
