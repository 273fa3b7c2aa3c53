//! Makes a plan smaller that breaks a rule.

use std::time::Duration;

use crate::plan::{Plan, Regions};
use crate::{Broken, run};

/// How many smaller plans are tried at most.
const TRIES: usize = 3000;

/// The smallest plan found that breaks the same rule, and how.
#[must_use]
pub fn shrink(plan: &Plan, broken: &Broken) -> (Plan, Broken) {
    let mut best = (plan.clone(), broken.clone());
    let mut tries = 0;
    'again: loop {
        for smaller in smaller(&best.0) {
            tries += 1;
            if tries > TRIES {
                return best;
            }
            if let Err(broken) = run(&smaller)
                && broken.rule == best.1.rule
            {
                best = (smaller, broken);
                continue 'again;
            }
        }
        return best;
    }
}

/// Plans with something less, the greater steps first.
fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut with = |change: &dyn Fn(&mut Plan)| {
        let mut smaller = plan.clone();
        change(&mut smaller);
        plans.push(smaller);
    };
    for index in 0..plan.bursts.len() {
        with(&|plan| {
            plan.bursts.remove(index);
        });
    }
    for index in 0..plan.faults.len() {
        with(&|plan| {
            plan.faults.remove(index);
        });
    }
    for index in 0..plan.changes.len() {
        with(&|plan| {
            plan.changes.remove(index);
        });
    }
    // The first layer is the one that begins the operation.
    let layers = if plan.layers.is_recommended {
        0
    } else {
        plan.layers.over.len()
    };
    for index in 1..layers {
        with(&|plan| {
            plan.layers.over.remove(index);
        });
    }
    if plan.layers.limit_below.is_some() {
        with(&|plan| plan.layers.limit_below = None);
    }
    if plan.guarded {
        with(&|plan| plan.guarded = false);
    }
    if !plan.known {
        with(&|plan| plan.known = true);
    }
    for (index, burst) in plan.bursts.iter().enumerate() {
        if burst.count > 1 {
            with(&|plan| plan.bursts[index].count /= 2);
            with(&|plan| plan.bursts[index].count -= 1);
        }
        let operation = &burst.operation;
        if !operation.excluded.is_empty() {
            with(&|plan| plan.bursts[index].operation.excluded.clear());
        }
        if operation.timeout.is_some() {
            with(&|plan| plan.bursts[index].operation.timeout = None);
        }
        if operation.leaves.is_some() {
            with(&|plan| plan.bursts[index].operation.leaves = None);
        }
        if operation.token {
            with(&|plan| plan.bursts[index].operation.token = false);
        }
        if burst.at > Duration::ZERO {
            with(&|plan| plan.bursts[index].at = Duration::ZERO);
        }
    }
    for index in 0..plan.preferred.len() {
        with(&|plan| {
            plan.preferred.remove(index);
        });
    }
    for name in &plan.regions.readable {
        if plan.regions.readable.len() > 1 && plan.regions.hub() != *name {
            with(&|plan| plan.regions.drop_region(name));
        }
    }
    for (index, fault) in plan.faults.iter().enumerate() {
        if fault.after > Duration::ZERO {
            with(&|plan| plan.faults[index].after = Duration::ZERO);
        }
        if fault.every > 1 {
            with(&|plan| plan.faults[index].every = 1);
        }
        if fault.from > Duration::ZERO {
            with(&|plan| plan.faults[index].from = Duration::ZERO);
        }
    }
    plans
}

impl Regions {
    fn drop_region(&mut self, name: &str) {
        self.readable.retain(|other| *other != name);
        self.writable.retain(|other| *other != name);
    }
}
