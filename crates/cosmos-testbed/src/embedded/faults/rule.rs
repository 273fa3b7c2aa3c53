//! A fault, and which requests it meets.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a fault does to the requests that it meets.
///
/// In JSON: `"hang"`, `{"delay": 250}` (milliseconds),
/// `{"status": {"status": 503, "substatus": 21008}}`, `{"throttle": {"retry_after_ms": 20}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// Answers with this status, and nothing is done.
    Status {
        /// The HTTP status.
        status: u16,
        /// `x-ms-substatus`; absent from the answer when `None`.
        #[serde(default)]
        substatus: Option<u32>,
        /// `x-ms-retry-after-ms`, in milliseconds; absent from the answer when `None`.
        #[serde(default)]
        retry_after_ms: Option<u64>,
    },
    /// Answers as usual, this much later. Delays of several rules add up.
    Delay(#[serde(with = "millis")] Duration),
    /// Reads the request and never answers it, not even after the fault is cleared.
    Hang,
    /// Stops listening, so that connects are refused, and closes every established connection.
    /// Listens on the same port again once cleared.
    ///
    /// It concerns an endpoint as a whole: partition key, range, requests, probability and times of
    /// its rule are not looked at.
    RefuseConnections,
    /// Reads the request, then resets the connection (and every other stream on it).
    ResetAfterRequest,
    /// Performs the request, then resets the connection instead of answering: the caller cannot know
    /// that it was done.
    LoseAnswer,
    /// Performs the request, announces the whole answer, sends half of its body and closes. An answer
    /// that has no body is sent as it is.
    CutBody,
    /// Answers, and shuts the connection down gracefully: GOAWAY on HTTP/2, `connection: close` on
    /// HTTP/1.1.
    GoAway,
    /// Answers 429 with substatus 3200 and a hint.
    Throttle {
        /// `x-ms-retry-after-ms`, in milliseconds.
        retry_after_ms: u64,
    },
}

impl FaultKind {
    /// The kind's name, as in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Delay(_) => "delay",
            Self::Hang => "hang",
            Self::RefuseConnections => "refuse_connections",
            Self::ResetAfterRequest => "reset_after_request",
            Self::LoseAnswer => "lose_answer",
            Self::CutBody => "cut_body",
            Self::GoAway => "go_away",
            Self::Throttle { .. } => "throttle",
        }
    }
}

/// The endpoints that a fault is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultScope {
    /// One region, by its display name.
    Region(String),
    /// Every region, not the global endpoint.
    AllRegions,
    /// The global endpoint alone.
    Global,
    /// Every region and the global endpoint.
    Everywhere,
}

/// The sort of requests that a fault meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultedRequests {
    /// All of them.
    #[default]
    Every,
    /// Data requests, as counted.
    Data,
    /// Data requests that write.
    Writes,
    /// Data requests that do not write.
    Reads,
    /// Requests that are not data, account reads included.
    Metadata,
    /// Reads of the account document.
    AccountReads,
}

/// A fault and the requests that it meets. By default: every request at its endpoints, always, until
/// it is cleared.
///
/// ```
/// use std::time::Duration;
/// use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultScope};
///
/// let rule = FaultRule::new(FaultScope::Region("East US".into()), FaultKind::Hang)
///     .partition_key(r#"["tenant-7"]"#)
///     .lapse_after(Duration::from_secs(2));
/// # assert_eq!(rule.kind, FaultKind::Hang);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FaultRule {
    /// Where.
    pub scope: FaultScope,
    /// What.
    pub kind: FaultKind,
    /// Only requests whose partition-key header is this text, such as `["a"]`.
    #[serde(default)]
    pub partition_key: Option<String>,
    /// Only requests to this partition key range, named by its id or reached by a partition key.
    #[serde(default)]
    pub range: Option<String>,
    /// Only requests of this sort.
    #[serde(default)]
    pub requests: FaultedRequests,
    /// The share of matching requests that are met, from 0 to 1.
    #[serde(default = "certain")]
    pub probability: f64,
    /// At most this many requests are met, then the fault is over.
    #[serde(default)]
    pub times: Option<u64>,
    /// The fault ends by itself this long after it was set. In milliseconds in JSON.
    #[serde(default, with = "optional_millis")]
    pub lapse_after: Option<Duration>,
}

fn certain() -> f64 {
    1.0
}

impl FaultRule {
    /// A fault that meets every request at its endpoints until it is cleared.
    #[must_use]
    pub fn new(scope: FaultScope, kind: FaultKind) -> Self {
        Self {
            scope,
            kind,
            partition_key: None,
            range: None,
            requests: FaultedRequests::default(),
            probability: certain(),
            times: None,
            lapse_after: None,
        }
    }

    /// A fault at one region.
    #[must_use]
    pub fn at(region: &str, kind: FaultKind) -> Self {
        Self::new(FaultScope::Region(region.to_owned()), kind)
    }

    /// Meets only requests whose `x-ms-documentdb-partitionkey` is exactly this text.
    #[must_use]
    pub fn partition_key(mut self, header: impl Into<String>) -> Self {
        self.partition_key = Some(header.into());
        self
    }

    /// Meets only requests to this partition key range.
    #[must_use]
    pub fn range(mut self, id: impl Into<String>) -> Self {
        self.range = Some(id.into());
        self
    }

    /// Meets only requests of this sort.
    #[must_use]
    pub fn requests(mut self, requests: FaultedRequests) -> Self {
        self.requests = requests;
        self
    }

    /// Meets this share of the matching requests, from 0 to 1.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// Meets at most this many requests.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Ends by itself after this long.
    #[must_use]
    pub fn lapse_after(mut self, duration: Duration) -> Self {
        self.lapse_after = Some(duration);
        self
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        u64::try_from(value.as_millis())
            .unwrap_or(u64::MAX)
            .serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

mod optional_millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's calling convention")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = value.map(|value| u64::try_from(value.as_millis()).unwrap_or(u64::MAX));
        millis.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_millis))
    }
}
