//! What a region does with one request.

use std::time::Duration;

use bytes::Bytes;
use cosmos_core::{FailureKind, headers};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::body::End;

/// One step of a region's script.
#[derive(Clone, Debug)]
#[must_use]
pub struct Step {
    pub(super) delay: Duration,
    pub(super) then: Then,
    pub(super) forever: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Then {
    Answer {
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
        end: End,
    },
    Fail(FailureKind),
    Hang,
}

impl Step {
    fn new(then: Then) -> Self {
        Self {
            delay: Duration::ZERO,
            then,
            forever: false,
        }
    }

    /// An answer with a status and substatus (0: without).
    pub fn status(code: u16, substatus: u32) -> Self {
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut map = HeaderMap::new();
        if substatus != 0 {
            map.insert(headers::SUBSTATUS, HeaderValue::from(substatus));
        }
        let body = Bytes::from_static(b"{}");
        Self::new(Then::Answer {
            status,
            headers: map,
            body,
            end: End::Good,
        })
    }

    /// A transport failure.
    pub fn fail(kind: FailureKind) -> Self {
        Self::new(Then::Fail(kind))
    }

    /// Accepts the request and never answers.
    pub fn hang() -> Self {
        Self::new(Then::Hang)
    }

    /// Waits before doing it.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Does it for this and all later requests.
    pub fn forever(mut self) -> Self {
        self.forever = true;
        self
    }

    /// Adds `x-ms-retry-after-ms` to an answer.
    pub fn hint(self, milliseconds: &str) -> Self {
        self.header(headers::RETRY_AFTER_MS, milliseconds)
    }

    /// Adds a header to an answer. A value that is none is left out.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let (Then::Answer { headers, .. }, Ok(value)) =
            (&mut self.then, HeaderValue::from_bytes(value.as_bytes()))
        {
            headers.insert(name, value);
        }
        self
    }

    /// Gives an answer another body.
    pub fn body(mut self, data: impl Into<Bytes>) -> Self {
        if let Then::Answer { body, .. } = &mut self.then {
            *body = data.into();
        }
        self
    }

    /// Lets an answer's body stand still after its data.
    pub fn stalling(self) -> Self {
        self.ending(End::Stalls)
    }

    /// Lets an answer's body break off after its data.
    pub fn breaking(self) -> Self {
        self.ending(End::Breaks)
    }

    fn ending(mut self, how: End) -> Self {
        if let Then::Answer { end, .. } = &mut self.then {
            *end = how;
        }
        self
    }
}
