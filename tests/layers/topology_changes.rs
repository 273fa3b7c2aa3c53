//! The account changes under a running client: regions move, leave, come back, or take a while.

use cosmos_core::FailureKind;
use cosmos_core::policy::Jitter;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, ms, read, s};

#[tokio::test(start_paused = true)]
async fn a_change_is_noticed_within_a_period_though_nothing_fails() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(3600)).await;
    lab.regions.set_document(Document::multi_write(["B"]));
    tokio::time::sleep(s(300) + ms(1)).await;
    lab.regions.clear_wire();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B");
}

#[tokio::test(start_paused = true)]
async fn clients_that_started_together_do_not_read_the_document_together() {
    let labs: Vec<_> = (0..4)
        .map(|_| Lab::with(Document::multi_write(["A"]), |a| a.jitter(Jitter::Random)))
        .collect();
    for lab in &labs {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    tokio::time::sleep(s(3600)).await;
    let times: std::collections::HashSet<_> = labs
        .iter()
        .flat_map(|lab| lab.regions.account_reads().times_ms())
        .filter(|at| *at > 0)
        .collect();
    let reads: usize = labs
        .iter()
        .map(|lab| lab.regions.account_reads().len() - 1)
        .sum();
    assert!(
        (40..=56).contains(&reads),
        "about every five minutes: {reads}"
    );
    assert!(times.len() > reads / 2, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_move_the_old_write_region_sees_one_write_in_an_hour() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(create()).await.status().code(), 201);
    tokio::time::sleep(s(10)).await;
    lab.regions.clear_wire();
    lab.regions.script("A", always(403, 3));
    let moved = Document::single_write(["A", "B"]).writable(["B"]);
    lab.regions.set_document(moved);
    for _ in 0..360 {
        assert_eq!(lab.send(create()).await.status().code(), 201);
        tokio::time::sleep(s(10)).await;
    }
    assert_eq!((lab.wire().count("A"), lab.wire().count("B")), (1, 360));
}

#[tokio::test(start_paused = true)]
async fn a_topology_that_takes_half_a_minute_to_settle_costs_no_write() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", always(403, 3));
    let not_yet = (0..15).map(|_| Step::status(403, 3));
    lab.regions.script("B", not_yet);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    let times = lab.wire().times_ms();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1000));
    assert_eq!(times.last(), Some(&31_000), "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn a_region_that_left_is_left_alone_and_still_marked_when_it_comes_back() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let refused = Step::fail(FailureKind::Refused);
    lab.regions.script("A", [refused.clone(), refused]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A B");
    for (document, seconds) in [
        (Document::multi_write(["B"]), 10),
        (Document::multi_write(["A", "B"]), 30),
    ] {
        lab.regions.set_document(document);
        tokio::time::sleep(s(6)).await;
        lab.account.refresh().await;
        lab.regions.clear_wire();
        for _ in 0..seconds {
            assert_eq!(lab.send(read()).await.status().code(), 200);
            tokio::time::sleep(s(1)).await;
        }
        assert_eq!(lab.wire().count("A"), 0, "{}", lab.wire());
    }
    tokio::time::sleep(s(20)).await;
    lab.regions.clear_wire();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A", "the mark is a minute old");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_failed_is_not_asked_again_even_if_its_mark_is_over() {
    for (code, substatus) in [(403, 3), (403, 1008), (503, 0), (410, 1002)] {
        let lab = Lab::with(Document::multi_write(["A", "B", "C"]), |a| {
            a.mark_duration(ms(1))
        });
        let failing = Step::status(code, substatus).after(ms(20));
        lab.regions.script("A", [failing.clone().forever()]);
        lab.regions.script("B", [failing]);
        assert_eq!(lab.send(create()).await.status().code(), 201);
        assert_eq!(lab.wire().regions(), "A B C", "{code}/{substatus}");
    }
}

#[tokio::test(start_paused = true)]
async fn with_every_region_marked_a_request_still_goes_out() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions
            .script(region, [Step::fail(FailureKind::Refused).forever()]);
    }
    for request in [read(), create()] {
        let _ = lab.send(request).await;
    }
    lab.regions.clear_wire();
    lab.regions.heal("B");
    for request in [read(), create()] {
        assert!(lab.send(request).await.status().is_success());
    }
    assert!(lab.wire().count("B") >= 2, "{}", lab.wire());
}
