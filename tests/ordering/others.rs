//! Layers twice, layers missing, and layers that are not ours in between.

use cosmos_tests::kinds::Kind;

use crate::play_all;
use crate::stack::{Foreign, Order, Over};

/// The recommended order, its reverse, and each with another layer outermost.
fn bases() -> Vec<Vec<Kind>> {
    let mut bases = Vec::new();
    for reversed in [false, true] {
        for turned in 0..Kind::ORDERED.len() {
            let mut base = Kind::ORDERED.to_vec();
            if reversed {
                base.reverse();
            }
            base.rotate_left(turned);
            bases.push(base);
        }
    }
    bases
}

fn keep_the_rules(orders: &[Order]) {
    if let Err(problem) = play_all(orders) {
        panic!("{problem}");
    }
}

/// A layer more in every place of an order.
fn everywhere(base: &[Kind], layer: Over) -> Vec<Order> {
    let places = 0..=base.len();
    places
        .map(|place| Order::of(base).with(place, layer))
        .collect()
}

#[test]
fn a_layer_that_is_there_twice_changes_no_rule() {
    let mut orders = Vec::new();
    for base in [0, 7].map(|number| bases().swap_remove(number)) {
        for kind in Kind::ORDERED {
            orders.extend(everywhere(&base, Over::Ours(kind)));
        }
    }
    keep_the_rules(&orders);
}

#[test]
fn a_layer_that_is_missing_changes_no_rule() {
    let mut orders = Vec::new();
    for base in bases() {
        for kind in Kind::ORDERED {
            let rest: Vec<Kind> = base
                .iter()
                .copied()
                .filter(|other| *other != kind)
                .collect();
            orders.push(Order::of(&rest));
        }
    }
    orders.push(Order::of(&[]));
    keep_the_rules(&orders);
}

#[test]
fn a_layer_that_is_not_ours_changes_no_rule_wherever_it_stands() {
    let mut orders = Vec::new();
    for base in [0, 7].map(|number| bases().swap_remove(number)) {
        for foreign in Foreign::ALL {
            orders.extend(everywhere(&base, Over::Foreign(foreign)));
        }
    }
    keep_the_rules(&orders);
}
