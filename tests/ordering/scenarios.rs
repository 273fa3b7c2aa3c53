//! What the regions do to each order of the layers: every budget is spent, every kind of wait is
//! cut by a deadline and left by a caller.

use cosmos_core::FailureKind;
use cosmos_testbed::scripted::{ScriptedAccount, Step};
use cosmos_tests::{always, ms, s};

use crate::scenario::Account::{Moving, SingleWrite};
use crate::scenario::Limit::{Caller, Layer};
use crate::scenario::Operation::{Create, Execute, Read};
use crate::scenario::{Scenario, everywhere};

pub(crate) fn all() -> Vec<Scenario> {
    let mut all = budgets();
    all.extend(mixed());
    all.extend(state());
    all.extend(policy());
    all.extend(deadlines());
    all.extend(callers());
    all
}

/// One kind of failure until its budget is spent.
fn budgets() -> Vec<Scenario> {
    vec![
        Scenario::new("healthy", 1, |_| {}).exactly("A"),
        Scenario::new("throttled", 10, |r| {
            everywhere(r, &Step::status(429, 3200));
        })
        .of(&[Read, Create]),
        Scenario::new("hinted", 4, |r| {
            r.script("A", vec![Step::status(429, 3200).hint("250"); 3]);
        })
        .exactly("A A A A"),
        Scenario::new("refused everywhere", 4 + 3, |r| {
            everywhere(r, &Step::fail(FailureKind::Refused));
        }),
        Scenario::new("reset everywhere", 4 + 3, |r| {
            everywhere(r, &Step::fail(FailureKind::Reset));
        }),
        Scenario::new("one dead connection", 2, |r| {
            r.script("A", [Step::fail(FailureKind::Closed)]);
        }),
        Scenario::new("hanging everywhere", 4, |r| everywhere(r, &Step::hang())),
        Scenario::new("5xx everywhere", 4, |r| {
            everywhere(r, &Step::status(503, 0));
        }),
        // As often as the account's topology may take to settle.
        Scenario::new("403/3 everywhere", 121, |r| {
            everywhere(r, &Step::status(403, 3));
        })
        .of(&[Create]),
        Scenario::new("403/3 on a single-write account", 4, |r| {
            everywhere(r, &Step::status(403, 3));
        })
        .on(SingleWrite)
        .of(&[Create, Execute])
        .lingering(),
        Scenario::new("403/1008 for some seconds", 8, |r| {
            for region in ["A", "B", "C"] {
                r.script(region, vec![Step::status(403, 1008); 2]);
            }
        }),
        Scenario::new("behind everywhere", 1 + 3, |r| {
            everywhere(r, &Step::status(404, 1002));
        })
        .of(&[Read]),
        Scenario::new("behind everywhere, with a hub", 1 + 2, |r| {
            everywhere(r, &Step::status(404, 1002));
        })
        .on(SingleWrite)
        .of(&[Read])
        .exactly("A C C"),
    ]
}

/// Several kinds of failure in one operation.
fn mixed() -> Vec<Scenario> {
    vec![
        Scenario::new("behind, then a dead hub", 5, |r| {
            r.script("A", always(404, 1002));
            r.script("C", [Step::fail(FailureKind::Refused).forever()]);
        })
        .on(SingleWrite)
        .of(&[Read]),
        Scenario::new("503, then 429 in the next region", 4, |r| {
            r.script("A", always(503, 0));
            r.script("B", vec![Step::status(429, 3200).hint("5"); 2]);
        }),
        Scenario::new("429, then 503", 3, |r| {
            r.script(
                "A",
                [Step::status(429, 3200).hint("5"), Step::status(503, 0)],
            );
        }),
        Scenario::new("a dead connection, then 429", 3, |r| {
            r.script(
                "A",
                [
                    Step::fail(FailureKind::Reset),
                    Step::status(429, 3200).hint("5"),
                ],
            );
        }),
        Scenario::new("behind, then unavailable, then a dead connection", 5, |r| {
            r.script("A", [Step::status(404, 1002)]);
            r.script("B", [Step::status(503, 0)]);
            r.script("C", [Step::fail(FailureKind::Closed)]);
        }),
        Scenario::new("dead connections in one region after another", 7, |r| {
            for region in ["A", "B"] {
                r.script(region, [Step::fail(FailureKind::Closed)]);
            }
        }),
        Scenario::new("everything in turn", 12, |r| {
            r.script("A", [Step::status(429, 3200), Step::status(403, 1008)]);
            r.script(
                "B",
                [Step::fail(FailureKind::Refused), Step::status(404, 1002)],
            );
            r.script("C", [Step::status(410, 1002), Step::status(429, 3092)]);
        }),
    ]
}

/// Layers that remember something from one operation to the next.
fn state() -> Vec<Scenario> {
    vec![
        Scenario::new("a sick partition with a probe", 2, |r| {
            let sick = Step::status(503, 0);
            let good = Step::status(200, 0).after(ms(50));
            r.script("A", [sick.clone(), sick.clone(), sick, good]);
        })
        .of(&[Read, Create])
        .then(ms(0), 1)
        .then(ms(0), 1)
        .then(s(60), 2)
        .then(ms(0), 1)
        // Of two at once one probes.
        .exactly("A B A B A B A B A"),
        Scenario::new("a probe whose caller leaves", 2, |r| {
            let sick = Step::status(503, 0);
            r.script("A", [sick.clone(), sick.clone(), sick, Step::hang()]);
        })
        .of(&[Read, Create])
        .then(ms(0), 1)
        .then(ms(0), 1)
        .then_left(s(60), ms(10))
        .then(ms(0), 1)
        .exactly("A B A B A B A A"),
        Scenario::new("a moved partition", 4, |r| {
            r.script("A", always(403, 3));
        })
        .on(Moving)
        .of(&[Create])
        .then(ms(0), 1)
        .exactly("A B B"),
        Scenario::new("a moved partition and a dead connection", 4, |r| {
            r.script("A", always(403, 3));
            r.script("B", [Step::fail(FailureKind::Closed)]);
        })
        .on(Moving)
        .of(&[Create, Execute])
        .then(ms(0), 1),
        Scenario::new("an endpoint that cannot be reached", 5, |r| {
            r.script("A", [Step::fail(FailureKind::Dns).forever()]);
        })
        .then(ms(0), 1)
        .exactly("A B B"),
    ]
}

/// Exclusions.
fn policy() -> Vec<Scenario> {
    vec![
        Scenario::new("an excluded hub, reads", 2, |r| {
            r.script("A", [Step::status(503, 0)]);
        })
        .on(SingleWrite)
        .excluding(&["C"])
        .of(&[Read])
        .exactly("A B"),
        Scenario::new("an excluded hub, behind", 3, |r| {
            r.script("A", always(404, 1002));
        })
        .on(SingleWrite)
        .excluding(&["C"])
        .of(&[Read]),
        Scenario::new("an excluded hub, writes", 1, |r| {
            r.script("C", always(503, 0));
        })
        .on(SingleWrite)
        .excluding(&["C"])
        .of(&[Create, Execute])
        .exactly("C"),
        Scenario::new("everything excluded", 1, all_excluded)
            .excluding(&["A", "B", "C", "X"])
            .exactly("A"),
        Scenario::new("all but one excluded", 5, |r| {
            r.script("B", [Step::fail(FailureKind::Reset), Step::status(503, 0)]);
        })
        .excluding(&["A", "C", "X"])
        .of(&[Read, Create]),
    ]
}

fn all_excluded(regions: &ScriptedAccount) {
    regions.script("A", always(429, 3200));
}

/// The deadline in the middle of each kind of wait.
fn deadlines() -> Vec<Scenario> {
    vec![
        Scenario::new("the deadline in a wait after 429", 2, |r| {
            everywhere(r, &Step::status(429, 3200).hint("4000"));
        })
        .within(Layer(s(6))),
        Scenario::new("the deadline in a wait after 403", 4, |r| {
            everywhere(r, &Step::status(403, 1008));
        })
        .within(Caller(ms(3500))),
        Scenario::new("the deadline in a wait for the same region", 3, |r| {
            everywhere(r, &Step::status(503, 0));
        })
        .excluding(&["B", "C", "X"])
        .within(Layer(ms(120)))
        .of(&[Read, Create]),
        Scenario::new("the deadline while a region hangs", 4, |r| {
            everywhere(r, &Step::hang());
        })
        .within(Layer(s(8))),
        Scenario::new("the deadline in a body", 4, |r| {
            everywhere(r, &Step::status(200, 0).stalling());
        })
        .within(Caller(ms(1234))),
        Scenario::new("the deadline in the account's refresh", 2, |r| {
            everywhere(r, &Step::status(403, 3));
            r.script_account_reads("global", [Step::hang().forever()]);
        })
        .on(SingleWrite)
        .within(Caller(s(7)))
        .of(&[Create])
        .lingering(),
        Scenario::new("the deadline after a slow region", 2, |r| {
            r.script("A", [Step::status(503, 0).after(ms(900)).forever()]);
            r.script("B", [Step::status(200, 0).after(ms(200)).forever()]);
        })
        .within(Layer(s(1)))
        .of(&[Read, Create]),
    ]
}

/// The caller drops the operation in the middle of something.
fn callers() -> Vec<Scenario> {
    vec![
        Scenario::new("the caller leaves in a wait after 429", 1, |r| {
            everywhere(r, &Step::status(429, 3200).hint("4000"));
        })
        .left_after(s(1))
        .of(&[Read, Execute]),
        Scenario::new("the caller leaves in a wait after 403", 3, |r| {
            everywhere(r, &Step::status(403, 1008));
        })
        .left_after(ms(2500))
        .of(&[Create]),
        Scenario::new("the caller leaves a region that hangs", 1, |r| {
            everywhere(r, &Step::hang());
        })
        .left_after(ms(500)),
    ]
}
