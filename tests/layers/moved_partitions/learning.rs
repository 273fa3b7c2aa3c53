//! What is learned, and from whom.

use bytes::Bytes;
use cosmos_core::{OperationOptions, requests};
use cosmos_testbed::scripted::Step;
use cosmos_tests::{Req, create, ms, read, with};

use super::{asked, becomes, document, lab, moved, of};

fn replace() -> Req {
    requests::replace_item("d", "c", "1", &"p".into(), Bytes::from_static(b"{}"))
        .build()
        .unwrap()
}

fn delete() -> Req {
    requests::delete_item("d", "c", "1", &"p".into())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn only_a_confirmed_write_says_where_the_partition_is() {
    let requests: [fn() -> Req; 3] = [create, replace, delete];
    for (index, code, substatus, learned) in [
        (0, 201, 0, true),
        (0, 409, 0, true),
        (0, 404, 0, false),
        (0, 400, 0, false),
        (0, 401, 0, false),
        (0, 403, 0, false),
        (0, 413, 0, false),
        (0, 429, 3200, false),
        (1, 200, 0, true),
        (1, 412, 0, true),
        (1, 404, 0, true),
        (1, 404, 1003, false),
        (2, 204, 0, true),
        (2, 404, 0, true),
    ] {
        let (lab, memory) = lab();
        lab.regions.script("A", [Step::status(403, 3)]);
        // A hint that is longer than the budget surfaces the 429.
        let answer = Step::status(code, substatus).hint("60000");
        lab.regions.script("B", [answer]);
        let seen = asked(&lab, of("0", requests[index]())).await;
        assert_eq!(seen, "A B", "{code}/{substatus}");
        assert_eq!(memory.len(), usize::from(learned), "{code}/{substatus}");
        let next = if learned { "B" } else { "A" };
        assert_eq!(asked(&lab, of("0", create())).await, next);
    }
}

#[tokio::test(start_paused = true)]
async fn the_very_first_attempt_teaches_as_well_as_any() {
    let (lab, memory) = lab();
    let without = |region: &str| {
        let options = OperationOptions::new().partition_key_range("0");
        with(create(), options.exclude_regions([region]).unwrap())
    };
    assert_eq!(asked(&lab, without("A")).await, "B");
    assert_eq!(memory.len(), 1);
    becomes(&lab, document().writable(["C"])).await;
    assert!(memory.is_empty());
    // Now it is the first one after everything was forgotten.
    assert_eq!(asked(&lab, without("C")).await, "A");
    assert_eq!(memory.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_moved_says_nothing_of_writes() {
    let (lab, memory) = lab();
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(asked(&lab, of("0", read())).await, "A B");
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_dropped_says_nothing() {
    let (lab, memory) = lab();
    lab.regions.script("A", [Step::status(403, 3)]);
    lab.regions.script("B", [Step::hang()]);
    let dropped = tokio::time::timeout(ms(10), lab.send(of("0", create()))).await;
    assert!(dropped.is_err());
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_slow_success_does_not_replace_what_a_later_write_found() {
    let (lab, _) = lab();
    lab.regions
        .script("A", [Step::status(403, 3), Step::status(403, 3)]);
    lab.regions.script("B", [Step::status(403, 3)]);
    lab.regions
        .script("C", [Step::status(201, 0).after(ms(500))]);
    let (slow, later) = tokio::join!(lab.send(of("0", create())), async {
        tokio::time::sleep(ms(10)).await;
        lab.send(of("0", create())).await
    });
    assert!(slow.status().is_success() && later.status().is_success());
    assert_eq!(lab.wire().regions(), "A B C A B");
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn a_slow_success_does_not_bring_back_what_a_later_write_removed() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    lab.regions.script(
        "B",
        [Step::status(201, 0).after(ms(500)), Step::status(403, 3)],
    );
    let (slow, later) = tokio::join!(lab.send(of("0", create())), async {
        tokio::time::sleep(ms(10)).await;
        lab.send(of("0", create())).await
    });
    assert!(slow.status().is_success() && later.status().is_success());
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn partitions_and_containers_are_remembered_apart() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    let other = requests::create_item("d", "other", &"p".into(), Bytes::from_static(b"{}"));
    assert_eq!(asked(&lab, of("0", other.build().unwrap())).await, "A");
    assert_eq!(asked(&lab, of("1", create())).await, "A");
    moved(&lab, "1").await;
    assert_eq!(memory.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_found_anew_by_every_write() {
    let mut memory = None;
    let lab = cosmos_tests::Lab::around(
        document(),
        |account| account,
        |account| {
            cosmos_tests::recommended(account).ppaf(|layer| {
                let layer = layer.max_partitions(1);
                memory = Some(layer.write_regions());
                layer
            })
        },
    );
    let memory = memory.unwrap();
    for range in 0..1000 {
        lab.regions.script("A", [Step::status(403, 3)]);
        assert_eq!(asked(&lab, of(&range.to_string(), create())).await, "A B");
    }
    assert!(memory.len() < 1000);
    assert_eq!(memory.len() as u64 + memory.unremembered(), 1000);
}
