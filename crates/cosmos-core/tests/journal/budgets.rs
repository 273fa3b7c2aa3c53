//! Budgets are the operation's, whoever spends them.

use std::time::Duration;

use cosmos_core::{Budget, OperationOptions, Route, Spent};

use crate::{READ, ms, now, region};

#[test]
fn each_budget_counts_for_itself() {
    let mut spent = Spent::default();
    spent.spend(Budget::Failover);
    spent.spend(Budget::BackendFailover);
    spent.spend(Budget::BackendFailover);
    (0..3).for_each(|_| spent.spend(Budget::Session));
    spent.spend_retry_with(ms(10));
    spent.spend_retry_with(ms(20));
    let counts = [Budget::Failover, Budget::BackendFailover, Budget::Session];
    assert_eq!(counts.map(|budget| spent.count(budget)), [1, 2, 3]);
    assert_eq!(spent.retried_with(), (2, ms(30)));
    assert_eq!(spent.throttled(region("East US")), (0, Duration::ZERO));
    assert_eq!(spent.reconnects(region("East US")), 0);
}

#[test]
fn throttle_and_reconnect_count_for_each_region() {
    let (east, west) = (region("East US"), region("West US 3"));
    let mut spent = Spent::default();
    spent.spend_throttle(east, ms(5));
    spent.spend_reconnect(west);
    spent.spend_throttle(west, ms(100));
    spent.spend_throttle(east, ms(10));
    assert_eq!(spent.throttled(east), (2, ms(15)));
    assert_eq!(spent.throttled(west), (1, ms(100)));
    assert_eq!((spent.reconnects(east), spent.reconnects(west)), (0, 1));
    spent.spend_throttle(west, Duration::MAX);
    assert_eq!(spent.throttled(west), (2, Duration::MAX));
    assert_eq!(spent.count(Budget::Failover), 0);
}

#[test]
fn clones_of_a_route_spend_from_the_same_budgets() {
    let route = Route::new(READ, None, now());
    let inner = route.clone();
    inner.with_spent(|spent| {
        spent.spend(Budget::Failover);
        spent.spend_throttle(region("East US"), ms(5));
    });
    inner
        .clone()
        .with_spent(|spent| spent.spend(Budget::Failover));
    assert_eq!(route.with_spent(|spent| spent.count(Budget::Failover)), 2);
    assert_eq!(route.journal().spent(Budget::Failover), 2);
    assert_eq!(route.journal().spent(Budget::Session), 0);
    assert_eq!(route.journal().throttled(region("East US")), (1, ms(5)));
}

#[test]
fn operations_with_the_same_options_share_nothing() {
    let now = now();
    let options = OperationOptions::new().timeout(ms(100));
    let first = Route::new(READ, Some(&options), now);
    let second = Route::new(READ, Some(&options), now + ms(50));
    first.with_spent(|spent| spent.spend(Budget::Failover));
    crate::made(&first, now, crate::answered(503, 0));
    first.set_foreign();
    assert_eq!(second.journal().spent(Budget::Failover), 0);
    assert!(second.journal().attempts().is_empty());
    assert!(!second.is_foreign());
    assert!(first.expired(now + ms(100)));
    assert!(!second.expired(now + ms(149)));
    assert!(second.expired(now + ms(150)));
}
