//! Hosts: the account's, former ones of the account, and foreign ones.

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, execute, ms, read, s, with};
use http::Uri;

fn at(mut request: Req, host: &str) -> Req {
    let path = request.uri().path().to_owned();
    *request.uri_mut() = format!("https://{host}{path}").parse::<Uri>().unwrap();
    request
}

/// Sends a request whose URI names a region that leaves the account while it is throttled.
async fn named_region_leaves(request: Req) -> (Lab, cosmos_tests::Seen) {
    let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
    lab.account.refresh().await;
    lab.regions
        .script("A", [Step::status(429, 0).hint("20000")]);
    let options = OperationOptions::new()
        .exclude_regions(["B"])
        .unwrap()
        .timeout(s(30));
    let request = with(at(request, "scripted-b.test"), options);
    let stack = lab.stack.clone();
    let sending = tokio::spawn(async move { cosmos_tests::send(&stack, request).await });
    tokio::time::sleep(s(6)).await;
    lab.regions.set_document(Document::multi_write(["A", "C"]));
    lab.regions.script("B", [Step::hang().forever()]);
    lab.account.refresh().await;
    let seen = tokio::time::timeout(s(60), sending).await;
    (lab, seen.expect("ended by its deadline").unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_operation_stays_one_when_the_host_that_its_uri_names_leaves_the_account() {
    for request in [read(), execute()] {
        let (lab, seen) = named_region_leaves(request).await;
        assert_eq!(lab.wire().regions(), "A A", "\n{}", lab.wire());
        assert!(seen.status().is_success());
        for entry in &lab.wire().0 {
            assert!(!entry.header("authorization").is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_host_gets_nothing_of_ours() {
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.account.refresh().await;
    let before = at(read(), "example.test");
    let seen = lab.send(before).await;
    assert!(
        seen.result
            .unwrap_err()
            .to_string()
            .contains("no such host")
    );
    assert!(seen.journal.unwrap().attempts().is_empty());
    tokio::time::sleep(ms(1)).await;
}
