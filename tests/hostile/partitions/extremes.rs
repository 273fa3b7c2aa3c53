use std::time::Duration;

use cosmos_core::health::BreakerOptions;
use cosmos_testbed::scripted::{Container, Step};
use cosmos_tests::{breaker, create, read, s, send};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{LINK, asked, lab_with, multi, of};

#[tokio::test(start_paused = true)]
async fn the_smallest_settings_still_serve() {
    let tiny = Duration::from_nanos(1);
    let options = BreakerOptions::new()
        .reads_tolerated(1)
        .writes_tolerated(1)
        .failure_percentage(1)
        .min_requests(1)
        .window(tiny)
        .first_wait(tiny)
        .next_wait(tiny)
        .lease_limit(tiny)
        .capacity(1);
    let (lab, circuits) = lab_with(multi(), |layers| {
        layers
            .circuit_breaker(|layer| layer.settings(breaker(options)))
            .partition(|layer| {
                layer
                    .enabled(true)
                    .lookup_limit(Duration::ZERO)
                    .max_containers(0)
            })
            .ppaf(|layer| layer.max_partitions(0))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    for n in 0..200_u32 {
        let region = ["A", "B", "C"][n as usize % 3];
        lab.regions.script(region, [Step::status(503, 0)]);
        assert!(lab.send(read()).await.status().is_success());
        assert!(
            lab.send(of(&n.to_string(), create()))
                .await
                .status()
                .is_success()
        );
    }
    for region in ["A", "B", "C"] {
        lab.regions.heal(region);
    }
    sleep(s(1)).await;
    let _ = circuits.list();
    assert!(circuits.counters().tracked <= 1);
    assert_eq!(asked(&lab, read()).await, "A");
}

#[tokio::test(start_paused = true)]
async fn the_greatest_settings_still_serve() {
    let day = s(24 * 3600);
    let options = BreakerOptions::new()
        .reads_tolerated(u32::MAX)
        .writes_tolerated(u32::MAX)
        .failure_percentage(100)
        .min_requests(u32::MAX)
        .window(day)
        .first_wait(day)
        .next_wait(day)
        .lease_limit(day)
        .capacity(u32::MAX);
    let (lab, circuits) = lab_with(multi(), |layers| {
        layers
            .circuit_breaker(|layer| layer.settings(breaker(options)))
            .partition(|layer| {
                layer
                    .enabled(true)
                    .lookup_limit(Duration::MAX)
                    .max_containers(usize::MAX)
            })
            .ppaf(|layer| layer.max_partitions(u32::MAX))
    });
    lab.regions.script("A", [Step::status(503, 0).forever()]);
    for _ in 0..300 {
        assert!(lab.send(of("0", read())).await.status().is_success());
    }
    assert_eq!(circuits.counters().open, 0);
}

#[tokio::test(start_paused = true)]
async fn a_stack_cloned_thousands_of_times_shares_its_circuits() {
    let (lab, circuits) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    let stacks = vec![lab.stack.clone(); 5000];
    lab.regions.script("A", [Step::status(503, 0).forever()]);
    let mut set = JoinSet::new();
    for stack in stacks {
        set.spawn(async move { send(&stack, read()).await.status() });
    }
    while let Some(status) = set.join_next().await {
        assert!(status.unwrap().is_success());
    }
    assert_eq!(circuits.counters().trips, 1);
    assert_eq!(
        lab.regions.container_reads().len(),
        3,
        "{}",
        lab.regions.container_reads()
    );
    assert_eq!(lab.regions.open(), 0);
}
