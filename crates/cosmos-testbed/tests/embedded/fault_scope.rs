//! Which requests a fault meets, and which it leaves alone.

use cosmos_testbed::embedded::{FaultError, FaultKind, FaultRule, FaultScope, FaultedRequests};
use tokio::net::TcpStream;

use crate::client::{Ask, EAST, WEST, address, at, start};
use crate::faults::{read, seeded};

#[tokio::test]
async fn a_fault_of_one_partition_key_or_range_leaves_the_others_alone() {
    let account = seeded().await;
    let east = at(&account, EAST);
    let unavailable = FaultKind::Status {
        status: 503,
        substatus: None,
        retry_after_ms: None,
    };
    let keyed = FaultRule::at(EAST, unavailable.clone()).partition_key(r#"["a"]"#);
    let id = account.faults().set(keyed).await.unwrap();
    assert_eq!(read().to(&account, &east).await.code(), (503, 0));
    assert_eq!(
        Ask::read("1", r#"["b"]"#).to(&account, &east).await.code(),
        (404, 0)
    );
    account.faults().clear(id).await;

    let range =
        read().to(&account, &east).await.headers["x-ms-documentdb-partitionkeyrangeid"].clone();
    let ranged = FaultRule::at(EAST, unavailable).range(range.to_str().unwrap());
    account.faults().set(ranged).await.unwrap();
    let mut met = Vec::new();
    for key in 0..20 {
        let reply = Ask::read("1", &format!("[{key}]"))
            .to(&account, &east)
            .await;
        met.push(reply.status.as_u16());
    }
    assert!(met.contains(&503) && met.contains(&404), "{met:?}");
}

#[tokio::test]
async fn a_fault_of_account_reads_leaves_data_alone() {
    let account = seeded().await;
    let kind = FaultKind::Status {
        status: 500,
        substatus: None,
        retry_after_ms: None,
    };
    let rule = FaultRule::new(FaultScope::Everywhere, kind).requests(FaultedRequests::AccountReads);
    account.faults().set(rule).await.unwrap();
    for endpoint in [at(&account, EAST), account.endpoint().to_owned()] {
        assert_eq!(
            Ask::account().to(&account, &endpoint).await.code(),
            (500, 0)
        );
        assert_eq!(read().to(&account, &endpoint).await.code(), (200, 0));
    }
}

#[tokio::test]
async fn a_rule_that_cannot_apply_is_an_error() {
    let account = start().await;
    let faults = account.faults();
    let unknown = FaultRule::at("Atlantis", FaultKind::Hang);
    let error = faults.set(unknown).await.unwrap_err();
    assert_eq!(error, FaultError::UnknownRegion("Atlantis".into()));
    let often = FaultRule::at(EAST, FaultKind::Hang).probability(1.5);
    assert_eq!(
        faults.set(often).await.unwrap_err(),
        FaultError::Probability(1.5)
    );
    assert!(faults.active().is_empty());
}

#[tokio::test]
async fn the_global_endpoint_has_outages_of_its_own() {
    let account = seeded().await;
    let everywhere = FaultRule::new(FaultScope::AllRegions, FaultKind::RefuseConnections);
    let id = account.faults().set(everywhere).await.unwrap();
    assert!(
        TcpStream::connect(address(&at(&account, WEST)))
            .await
            .is_err()
    );
    assert_eq!(
        read().to(&account, account.endpoint()).await.code(),
        (200, 0)
    );
    account.faults().clear(id).await;
    let global = FaultRule::new(FaultScope::Global, FaultKind::RefuseConnections);
    account.faults().set(global).await.unwrap();
    assert!(
        TcpStream::connect(address(account.endpoint()))
            .await
            .is_err()
    );
    assert_eq!(
        read().to(&account, &at(&account, WEST)).await.code(),
        (200, 0)
    );
}
