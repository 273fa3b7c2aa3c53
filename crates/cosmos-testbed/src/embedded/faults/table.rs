//! The faults that are set, and which of them a request meets.

use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::rule::{FaultKind, FaultRule, FaultScope, FaultedRequests};
use crate::embedded::endpoint::Endpoint;
use crate::embedded::request::{Class, Target};

/// Names a fault that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FaultId(pub(crate) u64);

/// What rules look at in a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) target: &'a Target,
    pub(crate) partition_key: Option<&'a str>,
    pub(crate) range: Option<&'a str>,
}

/// What happens to a request: first the delay, then the fault, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) delay: Duration,
    pub(crate) fault: Option<FaultKind>,
}

/// The faults that are set, in the order in which they were.
#[derive(Debug)]
pub(crate) struct FaultTable(Mutex<Rules>);

#[derive(Debug)]
struct Rules {
    active: Vec<Active>,
    next: u64,
    random: fastrand::Rng,
}

#[derive(Clone, Debug)]
struct Active {
    id: FaultId,
    rule: FaultRule,
    ends: Option<Instant>,
    left: Option<u64>,
}

impl FaultTable {
    /// `seed` decides which requests a rule with a probability meets.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Rules {
            active: Vec::new(),
            next: 1,
            random: fastrand::Rng::with_seed(seed),
        }))
    }

    pub(crate) fn set(&self, rule: FaultRule, now: Instant) -> FaultId {
        let mut rules = self.0.lock();
        let id = FaultId(rules.next);
        rules.next += 1;
        let ends = rule.lapse_after.and_then(|lapse| now.checked_add(lapse));
        let left = rule.times;
        rules.active.push(Active {
            id,
            rule,
            ends,
            left,
        });
        id
    }

    /// Removes a fault and tells whether it was there.
    pub(crate) fn clear(&self, id: FaultId) -> bool {
        let mut rules = self.0.lock();
        let before = rules.active.len();
        rules.active.retain(|active| active.id != id);
        rules.active.len() != before
    }

    pub(crate) fn clear_all(&self) {
        self.0.lock().active.clear();
    }

    pub(crate) fn active(&self, now: Instant) -> Vec<(FaultId, FaultRule)> {
        let mut rules = self.0.lock();
        rules.drop_ended(now);
        let active = rules.active.iter();
        active
            .map(|active| (active.id, active.rule.clone()))
            .collect()
    }

    /// Whether a request's range has to be known to decide.
    pub(crate) fn looks_at_ranges(&self, endpoint: &Endpoint) -> bool {
        let rules = self.0.lock();
        let mut active = rules.active.iter();
        active.any(|active| active.rule.range.is_some() && active.rule.scope.covers(endpoint))
    }

    /// Until when the endpoint refuses connections: `Some(None)` is until further notice.
    #[expect(
        clippy::option_option,
        reason = "refusing, and until when, are two questions"
    )]
    pub(crate) fn refuses(&self, endpoint: &Endpoint, now: Instant) -> Option<Option<Instant>> {
        let mut rules = self.0.lock();
        rules.drop_ended(now);
        let refusing = rules.active.iter().filter(|active| {
            active.rule.kind == FaultKind::RefuseConnections && active.rule.scope.covers(endpoint)
        });
        let mut ends: Vec<Option<Instant>> = refusing.map(|active| active.ends).collect();
        // The last of them to end decides, and one without an end outlasts them all.
        ends.sort_by_key(|end| (end.is_none(), *end));
        ends.pop()
    }

    /// Every delay that the request meets, and the first fault of another kind.
    pub(crate) fn meet(&self, subject: Subject<'_>, now: Instant) -> Met {
        let mut rules = self.0.lock();
        rules.drop_ended(now);
        let Rules { active, random, .. } = &mut *rules;
        let mut met = Met::default();
        for active in active.iter_mut().filter(|active| active.left != Some(0)) {
            let rule = &active.rule;
            if rule.kind == FaultKind::RefuseConnections || !rule.concerns(subject) {
                continue;
            }
            let delays = matches!(rule.kind, FaultKind::Delay(_));
            if (!delays && met.fault.is_some()) || random.f64() >= rule.probability {
                continue;
            }
            match &rule.kind {
                FaultKind::Delay(delay) => met.delay += *delay,
                kind => met.fault = Some(kind.clone()),
            }
            active.left = active.left.map(|left| left - 1);
        }
        met
    }
}

impl Rules {
    fn drop_ended(&mut self, now: Instant) {
        self.active
            .retain(|active| active.ends.is_none_or(|end| now < end) && active.left != Some(0));
    }
}

impl FaultScope {
    fn covers(&self, endpoint: &Endpoint) -> bool {
        match self {
            Self::Region(name) => endpoint.region_name() == Some(name),
            Self::AllRegions => *endpoint != Endpoint::Global,
            Self::Global => *endpoint == Endpoint::Global,
            Self::Everywhere => true,
        }
    }
}

impl FaultRule {
    fn concerns(&self, subject: Subject<'_>) -> bool {
        let target = subject.target;
        let sort = match self.requests {
            FaultedRequests::Every => true,
            FaultedRequests::Data => target.class == Class::Data,
            FaultedRequests::Writes => target.class == Class::Data && target.writes,
            FaultedRequests::Reads => target.class == Class::Data && !target.writes,
            FaultedRequests::Metadata => target.class != Class::Data,
            FaultedRequests::AccountReads => target.class == Class::Account,
        };
        let same = |asked: Option<&str>, is: Option<&str>| asked.is_none() || asked == is;
        sort && self.scope.covers(subject.endpoint)
            && same(self.partition_key.as_deref(), subject.partition_key)
            && same(self.range.as_deref(), subject.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, Method};

    fn target() -> Target {
        Target::parse(&Method::GET, "/dbs/d/colls/c/docs/1", &HeaderMap::new())
    }

    fn meet(table: &FaultTable, endpoint: &Endpoint, key: &str, now: Instant) -> Met {
        let target = target();
        let subject = Subject {
            endpoint,
            target: &target,
            partition_key: Some(key),
            range: Some("0"),
        };
        table.meet(subject, now)
    }

    fn hang() -> FaultRule {
        FaultRule::at("East US", FaultKind::Hang)
    }

    #[tokio::test]
    async fn a_fault_stays_at_its_region() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        table.set(hang(), now);
        let east = Endpoint::region("East US");
        assert_eq!(meet(&table, &east, "[1]", now).fault, Some(FaultKind::Hang));
        for other in [Endpoint::region("West US"), Endpoint::Global] {
            assert_eq!(meet(&table, &other, "[1]", now), Met::default());
        }
    }

    #[tokio::test]
    async fn a_fault_ends_by_time_or_by_count() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        let east = Endpoint::region("East US");
        table.set(hang().times(1), now);
        assert!(meet(&table, &east, "[1]", now).fault.is_some());
        assert!(meet(&table, &east, "[1]", now).fault.is_none());
        table.set(hang().lapse_after(Duration::from_secs(1)), now);
        assert!(meet(&table, &east, "[1]", now).fault.is_some());
        let later = now + Duration::from_secs(1);
        assert!(meet(&table, &east, "[1]", later).fault.is_none());
        assert!(table.active(later).is_empty());
    }

    #[tokio::test]
    async fn a_fault_of_a_partition_key_or_range_meets_no_other() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        let east = Endpoint::region("East US");
        table.set(hang().partition_key("[1]"), now);
        table.set(hang().range("7"), now);
        assert!(meet(&table, &east, "[1]", now).fault.is_some());
        assert!(meet(&table, &east, "[2]", now).fault.is_none());
    }

    #[tokio::test]
    async fn delays_add_up_and_the_first_other_fault_wins() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        let east = Endpoint::region("East US");
        let delay = FaultKind::Delay(Duration::from_millis(5));
        for kind in [delay.clone(), FaultKind::CutBody, FaultKind::Hang, delay] {
            table.set(FaultRule::at("East US", kind), now);
        }
        let met = meet(&table, &east, "[1]", now);
        assert_eq!(met.delay, Duration::from_millis(10));
        assert_eq!(met.fault, Some(FaultKind::CutBody));
    }

    #[tokio::test]
    async fn refusing_lasts_as_long_as_its_longest_rule() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        let east = Endpoint::region("East US");
        let refuse = FaultRule::at("East US", FaultKind::RefuseConnections);
        let second = Duration::from_secs(1);
        assert_eq!(table.refuses(&east, now), None);
        table.set(refuse.clone().lapse_after(second), now);
        assert_eq!(table.refuses(&east, now), Some(Some(now + second)));
        table.set(refuse, now);
        assert_eq!(table.refuses(&east, now), Some(None));
    }

    #[tokio::test]
    async fn a_probability_of_a_half_meets_about_half() {
        let (table, now) = (FaultTable::new(1), Instant::now());
        let east = Endpoint::region("East US");
        table.set(hang().probability(0.5), now);
        let met = (0..1000).filter(|_| meet(&table, &east, "[1]", now).fault.is_some());
        assert!((400..600).contains(&met.count()));
    }
}
