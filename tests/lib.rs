//! What the tests share: a lab around the scripted account, short words for requests, and the
//! safety rules.

pub mod foreign;
pub mod kinds;
pub mod rules;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use cosmos_core::health::{BreakerOptions, BreakerSettings};
use cosmos_core::policy::Jitter;
use cosmos_core::signing::MasterKey;
use cosmos_core::{
    BoxError, Journal, JournalSlot, OperationOptions, PartitionKey, Status, TransportError,
    requests,
};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step, Wire};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::{Account, AccountBuilder, Clock, KeyCredential, RecommendedLayer};

/// A request as the stacks take it.
pub type Req = Request<Full<Bytes>>;
/// A response as the stacks give it.
pub type Res = Response<Full<Bytes>>;
/// A stack, its type erased.
pub type Stack = BoxCloneSyncService<Req, Res, BoxError>;

/// A key that signs nothing of value.
pub const KEY: &str = "c2VjcmV0IGtleSBvZiBhIHNjcmlwdGVkIGFjY291bnQ=";

/// A scripted account and a stack around it.
pub struct Lab {
    /// The regions.
    pub regions: ScriptedAccount,
    /// The account handle that the stack's layers share.
    pub account: Account,
    /// The recommended stack, without jitter.
    pub stack: Stack,
}

impl Lab {
    /// The recommended stack around an account; `A` is preferred, then `B`, then `C`.
    #[must_use]
    pub fn new(document: Document) -> Self {
        Self::with(document, |account| account)
    }

    /// Like `new`, with other account settings.
    pub fn with(
        document: Document,
        settings: impl FnOnce(AccountBuilder) -> AccountBuilder,
    ) -> Self {
        Self::around(document, settings, recommended)
    }

    /// Like `new`, without a breaker: failures mark endpoints.
    #[must_use]
    pub fn unguarded(document: Document) -> Self {
        Self::around(document, |account| account, unguarded)
    }

    /// A lab with these account settings and layers.
    pub fn around(
        document: Document,
        settings: impl FnOnce(AccountBuilder) -> AccountBuilder,
        layers: impl FnOnce(&Account) -> RecommendedLayer,
    ) -> Self {
        let regions = ScriptedAccount::new(document);
        let account = account(&regions, settings);
        let stack = boxed(layers(&account).layer(regions.clone()));
        Self {
            regions,
            account,
            stack,
        }
    }

    /// Sends one request, once the topology is known.
    pub async fn send(&self, request: Req) -> Seen {
        send(&self.stack, request).await
    }

    /// The requests that the regions saw.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.regions.wire()
    }
}

impl std::fmt::Debug for Lab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lab")
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}

/// A credential with [`KEY`].
///
/// # Panics
/// Never: the key is good.
#[must_use]
pub fn credential() -> KeyCredential {
    KeyCredential::new(MasterKey::from_base64(KEY).expect("a good key"))
}

/// An account handle on scripted regions, without jitter, on a clock that follows paused time.
///
/// # Panics
/// If the settings are refused.
pub fn account(
    regions: &ScriptedAccount,
    settings: impl FnOnce(AccountBuilder) -> AccountBuilder,
) -> Account {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    let builder = Account::builder(ScriptedAccount::ENDPOINT, credential())
        .preferred_regions(["A", "B", "C"])
        .jitter(Jitter::None)
        .clock(Clock::starting_at(start));
    settings(builder)
        .build(regions.clone())
        .expect("good settings")
}

/// The recommended layers without jitter, and without reads of containers: a partition is known if
/// the caller names it.
pub fn recommended(account: &Account) -> RecommendedLayer {
    RecommendedLayer::new(account.clone(), credential())
        .partition(|layer| layer.enabled(false))
        .circuit_breaker(|layer| layer.settings(breaker(BreakerOptions::new())))
        .failover(|layer| layer.jitter(Jitter::None))
        .retry_with(|layer| layer.jitter(Jitter::None))
        .throttle(|layer| layer.jitter(Jitter::None))
}

/// The recommended layers without a breaker.
pub fn unguarded(account: &Account) -> RecommendedLayer {
    let off = breaker(BreakerOptions::new().enabled(false));
    recommended(account).circuit_breaker(|layer| layer.settings(off))
}

/// A breaker's settings, without jitter, and whatever the environment says.
///
/// # Panics
/// If they are refused.
#[must_use]
pub fn breaker(options: BreakerOptions) -> BreakerSettings {
    options.jitter(Jitter::None).build().expect("good settings")
}

/// Erases a stack's type.
pub fn boxed<S>(service: S) -> Stack
where
    S: Service<Req, Response = Res> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    BoxCloneSyncService::new(service.map_err(Into::into))
}

/// Sends one request through a clone of a stack.
pub async fn send(stack: &Stack, request: Req) -> Seen {
    let slot = JournalSlot::new();
    let mut request = request;
    let options = request
        .extensions_mut()
        .remove::<OperationOptions>()
        .unwrap_or_default();
    request.extensions_mut().insert(options.journal_slot(&slot));
    let result = stack.clone().oneshot(request).await;
    Seen {
        result,
        journal: slot.journal(),
    }
}

/// What a caller saw of an operation.
#[derive(Debug)]
pub struct Seen {
    /// The result.
    pub result: Result<Res, BoxError>,
    /// The journal, if a layer of ours saw the operation.
    pub journal: Option<Journal>,
}

impl Seen {
    /// The status of the response.
    ///
    /// # Panics
    /// If there was none.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.result {
            Ok(response) => Status::of_response(response),
            Err(error) => panic!("no response but {error:?}"),
        }
    }

    /// The error.
    ///
    /// # Panics
    /// If there was none, or none of ours.
    #[must_use]
    pub fn error(&self) -> &TransportError {
        let error = self.result.as_ref().expect_err("an error");
        TransportError::find(&**error).expect("an error of ours")
    }

    /// The response's body as text.
    ///
    /// # Panics
    /// If there was no response.
    pub async fn text(self) -> String {
        let body = self.result.expect("a response").into_body();
        let bytes = body.collect().await.expect("a full body").to_bytes();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn key() -> PartitionKey {
    PartitionKey::from("p")
}

/// A point read.
///
/// # Panics
/// Never.
#[must_use]
pub fn read() -> Req {
    requests::read_item("d", "c", "1", &key())
        .build()
        .expect("a good request")
}

/// A create.
///
/// # Panics
/// Never.
#[must_use]
pub fn create() -> Req {
    requests::create_item("d", "c", &key(), Bytes::from_static(b"{\"id\":\"1\"}"))
        .build()
        .expect("a good request")
}

/// The execution of a stored procedure.
///
/// # Panics
/// Never.
#[must_use]
pub fn execute() -> Req {
    requests::execute_stored_procedure("d", "c", "s", &key(), Bytes::from_static(b"[]"))
        .build()
        .expect("a good request")
}

/// A read of a container's properties.
///
/// # Panics
/// Never.
#[must_use]
pub fn read_metadata() -> Req {
    requests::read_container("d", "c")
        .build()
        .expect("a good request")
}

/// A create of a database.
///
/// # Panics
/// Never.
#[must_use]
pub fn write_metadata() -> Req {
    requests::create_database("d")
        .build()
        .expect("a good request")
}

/// A request with these options.
#[must_use]
pub fn with(mut request: Req, options: OperationOptions) -> Req {
    request.extensions_mut().insert(options);
    request
}

/// A status that a region answers with for ever.
pub fn always(code: u16, substatus: u32) -> [Step; 1] {
    [Step::status(code, substatus).forever()]
}

/// Milliseconds.
#[must_use]
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Seconds.
#[must_use]
pub const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A shared count.
pub type Count = Arc<std::sync::atomic::AtomicUsize>;

/// Checks that a document of the repository is what its data makes it; with `COSMOS_BLESS` set,
/// writes it anew.
///
/// # Errors
/// What is wrong with it.
pub fn check_document(path: &str, wanted: &str) -> Result<(), String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let path = root.ok_or("no workspace")?.join(path);
    if std::env::var_os("COSMOS_BLESS").is_some() {
        return std::fs::write(&path, wanted).map_err(|error| error.to_string());
    }
    if std::fs::read_to_string(&path).unwrap_or_default() == wanted {
        Ok(())
    } else {
        Err("it differs from its data: run with COSMOS_BLESS=1".to_owned())
    }
}
