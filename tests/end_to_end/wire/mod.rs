//! Connections that break at a byte, on real sockets: cut, reset, silent, late, refused, told to go.

mod cuts;
mod frames;
mod goaways;
mod load;
mod proxy;

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use cosmos_client::{CosmosClient, LeafBuilder, Protocol};
use cosmos_testbed::embedded::WriteMode;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::harness::{ATTEMPT, World, leaf};

/// How connections speak.
#[derive(Copy, Clone, Debug)]
struct Transport {
    protocol: Protocol,
    tls: bool,
}

const TRANSPORTS: [Transport; 4] = [
    Transport::new(Protocol::Http1, false),
    Transport::new(Protocol::Http2, false),
    Transport::new(Protocol::Http1, true),
    Transport::new(Protocol::Http2, true),
];

struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// Who the account is, if it speaks TLS.
static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    Identity {
        certificate: signed.cert.der().clone(),
        key: signed.signing_key.serialize_der(),
    }
});

impl Transport {
    const fn new(protocol: Protocol, tls: bool) -> Self {
        Self { protocol, tls }
    }

    async fn world(self, mode: WriteMode) -> Arc<World> {
        World::with(|account| {
            let account = account.write_mode(mode);
            if self.tls {
                account.tls(server())
            } else {
                account
            }
        })
        .await
    }

    /// A client's connections, before anything is between them and the account.
    fn leaf(self) -> LeafBuilder {
        leaf(self.protocol)
            .tls_config(client())
            .connect_limit(ATTEMPT)
    }
}

/// Where a region listens.
fn address_of(world: &World, region: &str) -> SocketAddr {
    let endpoint = world.account.region_endpoint(region).unwrap();
    let endpoint: http::Uri = endpoint.parse().unwrap();
    SocketAddr::from(([127, 0, 0, 1], endpoint.port_u16().unwrap()))
}

fn server() -> ServerConfig {
    let key = PrivateKeyDer::try_from(IDENTITY.key.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![IDENTITY.certificate.clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

fn client() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(IDENTITY.certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A client of a world, through these connections, that gives up after the load's deadline.
fn connected(world: &World, transport: Transport, leaf: LeafBuilder) -> CosmosClient {
    let builder = world.builder(transport.protocol).leaf(leaf);
    builder.timeout(load::DEADLINE).build().unwrap()
}
