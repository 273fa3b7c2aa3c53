//! HTTP status and Cosmos DB substatus, always read together.
//!
//! A substatus means nothing without its status: 1002 is "session not available" under 404 and
//! "partition key range gone" under 410.

use http::{HeaderMap, StatusCode};

use crate::headers;

/// The status code of an answer together with its `x-ms-substatus`.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Status {
    code: u16,
    substatus: u32,
}

impl Status {
    /// 400/1024: the container is another one than the request was meant for.
    pub const COLLECTION_RID_MISMATCH: Self = Self::new(400, 1024);
    /// 403/3: the region is not, or no longer, a write region.
    pub const WRITE_FORBIDDEN: Self = Self::new(403, 3);
    /// 403/1008: the region no longer owns the account.
    pub const DATABASE_ACCOUNT_NOT_FOUND: Self = Self::new(403, 1008);
    /// 404/1002: the region has not caught up with the session token.
    pub const READ_SESSION_NOT_AVAILABLE: Self = Self::new(404, 1002);
    /// 408/20008: made by the client when the operation's deadline passes; never sent by a region.
    pub const CLIENT_OPERATION_TIMEOUT: Self = Self::new(408, 20008);
    /// 410/1000: the container's name now stands for another container.
    pub const NAME_CACHE_STALE: Self = Self::new(410, 1000);
    /// 410/1002: the partition key range was split or merged away.
    pub const PARTITION_KEY_RANGE_GONE: Self = Self::new(410, 1002);
    /// 410/1007: a split or merge is completing.
    pub const COMPLETING_SPLIT: Self = Self::new(410, 1007);
    /// 410/1008: a partition migration is completing.
    pub const COMPLETING_PARTITION_MIGRATION: Self = Self::new(410, 1008);
    /// 429/3092: throttled for lack of a system resource; handled like 503.
    pub const SYSTEM_RESOURCE_UNAVAILABLE: Self = Self::new(429, 3092);
    /// 449: concurrent writes collided; the same request is to be sent again.
    pub const RETRY_WITH: Self = Self::new(449, 0);

    /// A status from its two numbers; 0 stands for "no substatus".
    #[must_use]
    pub const fn new(code: u16, substatus: u32) -> Self {
        Self { code, substatus }
    }

    /// Reads the status of an answer. A substatus that is absent or not a number is 0, and so is
    /// that of a success, which has nothing to explain.
    #[must_use]
    pub fn of(code: StatusCode, headers: &HeaderMap) -> Self {
        if code.is_success() {
            return Self::new(code.as_u16(), 0);
        }
        let substatus = headers
            .get(&headers::SUBSTATUS)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        Self::new(code.as_u16(), substatus)
    }

    /// Reads the status of a response.
    #[must_use]
    pub fn of_response<B>(response: &http::Response<B>) -> Self {
        Self::of(response.status(), response.headers())
    }

    /// The HTTP status code.
    #[must_use]
    pub const fn code(self) -> u16 {
        self.code
    }

    /// The substatus, 0 where the answer carried none.
    #[must_use]
    pub const fn substatus(self) -> u32 {
        self.substatus
    }

    /// Whether the code is 2xx.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.code >= 200 && self.code < 300
    }

    /// Whether the code is 500 or above: the retry specification treats all of 5xx alike.
    #[must_use]
    pub const fn is_server_error(self) -> bool {
        self.code >= 500
    }

    /// Whether this is a 410 that says "your map of partition key ranges is old" rather than
    /// anything about the region (1000, 1002, 1007, 1008).
    #[must_use]
    pub const fn is_stale_range(self) -> bool {
        self.code == 410 && matches!(self.substatus, 1000 | 1002 | 1007 | 1008)
    }

    /// The name that the service's documentation uses, where there is one worth printing.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match (self.code, self.substatus) {
            (400, 1024) => "CollectionRidMismatch",
            (400, _) => "BadRequest",
            (401, _) => "Unauthorized",
            (403, 3) => "WriteForbidden",
            (403, 1008) => "DatabaseAccountNotFound",
            (403, _) => "Forbidden",
            (404, 1002) => "ReadSessionNotAvailable",
            (404, _) => "NotFound",
            (408, 20008) => "ClientOperationTimeout",
            (408, _) => "RequestTimeout",
            (409, _) => "Conflict",
            (410, 1000) => "NameCacheStale",
            (410, 1002) => "PartitionKeyRangeGone",
            (410, 1007) => "CompletingSplit",
            (410, 1008) => "CompletingPartitionMigration",
            (410, _) => "Gone",
            (412, _) => "PreconditionFailed",
            (413, _) => "RequestEntityTooLarge",
            (429, 3092) => "SystemResourceUnavailable",
            (429, _) => "TooManyRequests",
            (449, _) => "RetryWith",
            (500, _) => "InternalServerError",
            (503, _) => "ServiceUnavailable",
            _ => return None,
        })
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.substatus == 0 {
            write!(f, "{}", self.code)
        } else {
            write!(f, "{}/{}", self.code, self.substatus)
        }
    }
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(substatus: &[u8]) -> Status {
        let mut map = HeaderMap::new();
        map.insert(
            headers::SUBSTATUS,
            HeaderValue::from_bytes(substatus).unwrap(),
        );
        Status::of(StatusCode::NOT_FOUND, &map)
    }

    #[test]
    fn a_substatus_that_is_no_number_counts_as_absent() {
        assert_eq!(read(b"1002"), Status::READ_SESSION_NOT_AVAILABLE);
        assert_eq!(read(b" 1002 "), Status::READ_SESSION_NOT_AVAILABLE);
        for garbage in [
            &b""[..],
            b"-1",
            b"abc",
            b"1e3",
            b"99999999999999",
            b"\xff\xfe",
        ] {
            assert_eq!(read(garbage), Status::new(404, 0), "{garbage:?}");
        }
        assert_eq!(
            Status::of(StatusCode::NOT_FOUND, &HeaderMap::new()),
            Status::new(404, 0)
        );
    }

    #[test]
    fn it_prints_as_code_and_substatus() {
        assert_eq!(Status::WRITE_FORBIDDEN.to_string(), "403/3");
        assert_eq!(Status::new(503, 0).to_string(), "503");
    }
}
