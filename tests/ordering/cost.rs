//! What the orders cost, in comparison.

use std::collections::{BTreeSet, HashMap};
use std::ops::AddAssign;

use cosmos_tests::kinds::Kind;

use crate::scenario::Operation;

/// Our seven layers, outermost first.
pub(crate) type Seven = [Kind; 7];

/// What a case cost its callers and the account.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Operations that did not succeed.
    pub(crate) failed: u32,
    pub(crate) requests: u32,
    /// Those of them that went elsewhere than the first one.
    pub(crate) away: u32,
    /// The time that the callers waited.
    pub(crate) milliseconds: u32,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.failed += other.failed;
        self.requests += other.requests;
        self.away += other.away;
        self.milliseconds += other.milliseconds;
    }
}

/// A scenario with a kind of operation.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) scenario: &'static str,
    pub(crate) operation: Operation,
    /// What the regions saw in the recommended order.
    pub(crate) wire: String,
}

/// What every order cost in every case.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) cases: Vec<Played>,
    pub(crate) costs: HashMap<Seven, Vec<Cost>>,
}

impl Measured {
    pub(crate) fn recommended(&self) -> &[Cost] {
        &self.costs[&Kind::ORDERED]
    }

    /// What it costs that `outer` stands directly outside of `inner` instead of the other way
    /// round, over all places of the two and all orders of the others.
    pub(crate) fn pair(&self, outer: Kind, inner: Kind) -> Difference {
        let mut difference = Difference::default();
        for (order, costs) in &self.costs {
            let Some(place) = order.windows(2).position(|pair| pair == [outer, inner]) else {
                continue;
            };
            let mut swapped = *order;
            swapped.swap(place, place + 1);
            difference.orders += 1;
            difference.add(costs, &self.costs[&swapped], &self.cases);
        }
        difference
    }

    /// What an order costs beside the recommended one.
    pub(crate) fn beside_recommended(&self, order: Seven) -> Difference {
        let mut difference = Difference {
            orders: 1,
            ..Difference::default()
        };
        difference.add(&self.costs[&order], self.recommended(), &self.cases);
        difference
    }
}

/// What is more, and what is less.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) more: u64,
    pub(crate) less: u64,
}

impl Change {
    fn add(&mut self, now: u32, before: u32) {
        self.more += u64::from(now.saturating_sub(before));
        self.less += u64::from(before.saturating_sub(now));
    }
}

/// How some orders differ from some others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Difference {
    /// How many orders were compared.
    pub(crate) orders: usize,
    /// How many cases differ, over all of them.
    pub(crate) cases: usize,
    pub(crate) failed: Change,
    pub(crate) requests: Change,
    pub(crate) away: Change,
    pub(crate) milliseconds: Change,
    pub(crate) scenarios: BTreeSet<&'static str>,
}

impl Difference {
    fn add(&mut self, costs: &[Cost], before: &[Cost], cases: &[Played]) {
        for ((now, before), case) in costs.iter().zip(before).zip(cases) {
            if now == before {
                continue;
            }
            self.cases += 1;
            self.failed.add(now.failed, before.failed);
            self.requests.add(now.requests, before.requests);
            self.away.add(now.away, before.away);
            self.milliseconds.add(now.milliseconds, before.milliseconds);
            self.scenarios.insert(case.scenario);
        }
    }
}
