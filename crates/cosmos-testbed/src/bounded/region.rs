//! One region: how it is, and how much is waiting.

use std::time::Duration;

use super::LATENCY;

/// How a region is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It works through what comes in.
    #[default]
    Well,
    /// It answers everything with this status, at no cost.
    Answers(u16),
    /// It refuses connections.
    Refuses,
    /// It takes requests and never answers.
    Hangs,
}

/// What a region can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// So many requests a second, if it does nothing else.
    pub per_second: u32,
    /// What turning one away costs, as a share of what serving it costs.
    pub refusal: f64,
    /// With so much work waiting, it turns requests away.
    pub backlog: Duration,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is answered with this status, this much later.
    Answer(u16, Duration),
    Refused,
    Hangs,
}

/// A region's state. Times count from the account's beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    pub(super) health: Health,
    // When it will have done all that it has taken on.
    busy_until: Duration,
}

impl Region {
    /// Takes a request on, or turns it away.
    pub(super) fn receive(&mut self, capacity: Option<Capacity>, now: Duration) -> Fate {
        match self.health {
            Health::Well => {}
            Health::Answers(status) => return Fate::Answer(status, LATENCY),
            Health::Refuses => return Fate::Refused,
            Health::Hangs => return Fate::Hangs,
        }
        let Some(capacity) = capacity else {
            return Fate::Answer(200, LATENCY);
        };
        let work = Duration::from_secs(1) / capacity.per_second.max(1);
        let begun = self.busy_until.max(now);
        let waiting = begun.saturating_sub(now);
        if waiting > capacity.backlog {
            self.busy_until = begun + work.mul_f64(capacity.refusal);
            return Fate::Answer(503, LATENCY);
        }
        self.busy_until = begun + work;
        Fate::Answer(200, waiting + LATENCY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Capacity = Capacity {
        per_second: 1000,
        refusal: 0.5,
        backlog: Duration::from_millis(100),
    };

    /// How many requests of ten seconds at this pace are served.
    fn served(per_second: u32) -> u32 {
        let mut region = Region::default();
        let arrivals = (0..10 * per_second).map(|n| Duration::from_secs(1) * n / per_second);
        let fates = arrivals.map(|at| region.receive(Some(CAPACITY), at));
        let good = fates.filter(|fate| matches!(fate, Fate::Answer(200, _)));
        u32::try_from(good.count()).unwrap_or(u32::MAX)
    }

    #[test]
    fn up_to_its_capacity_it_serves_everything() {
        assert_eq!(served(1000), 10_000);
    }

    #[test]
    fn above_it_refusals_take_the_place_of_answers_until_there_is_nothing_else() {
        let some = served(1500);
        // n served and 1500 - n refused: n + (1500 - n) / 2 = 1000.
        assert!((4_900..5_400).contains(&some), "{some}");
        assert!(served(2500) < 200);
    }
}
