//! Circuits per partition and region (per-partition circuit breaker, PPCB).
//!
//! One physical partition can be sick in one region while all others there are well: an upgrade, a
//! migration, a bad replica. Moving the whole account would be too much, and trying that region
//! first on every request costs each of them a timeout. So health is kept per (partition, region):
//! after enough failures requests go to other regions at once, and a single probe at a time finds
//! out when the partition is back. A circuit never refuses a request: it steers.
//!
//! What is in flight when a region dies comes back as a flood of failures, some of it only after a
//! probe has found the partition well. So a circuit that has closed is remembered for one window,
//! and what began before that success neither counts nor trips it again.
//!
//! * [`signal`] says what an outcome means for health;
//! * [`Health`] is the machine of one (partition, region), pure;
//! * [`Circuits`] is the table of them that all requests share;
//! * [`BreakerOptions`] makes [`BreakerSettings`] from code and the environment.
//!
//! ```
//! use cosmos_core::health::{BreakerSettings, Circuits, Event, Role, Signal, State};
//! use cosmos_core::selection::{Standing, Standings};
//! use cosmos_core::{Access, Partition, RangeId, Region};
//!
//! # #[allow(clippy::disallowed_methods)]
//! let now = std::time::Instant::now();
//! let circuits = Circuits::new(BreakerSettings::default());
//! let range = RangeId::from(7);
//! let partition = Partition { container: "dbs/shop/colls/carts", range: Some(&range) };
//! let region = Region::named("West US 3")?;
//! let mut tripped = None;
//! for sequence in 1..=10 {
//!     let event = Event {
//!         region,
//!         access: Access::Read,
//!         sequence,
//!         newest: sequence,
//!         role: Role::Ordinary,
//!         signal: Signal::Failure,
//!         replaces: None,
//!         settles: None,
//!     };
//!     tripped = circuits.record(partition, &event, now);
//! }
//! assert_eq!(tripped.unwrap().to, State::UnhealthyTentative);
//! let standings = circuits.standings(partition, now);
//! assert_eq!(standings.standing(region, Access::Read), Standing::Bad);
//! # Ok::<(), cosmos_core::RegionError>(())
//! ```
//!
//! Which attempts a breaker manages (data, at least two regions, reads only on single-write
//! accounts) is its layer's to know. Everything here is counted that is recorded.

mod circuits;
mod closed;
mod event;
mod machine;
mod open;
mod options;
mod settings;
mod signal;
mod standings;

pub use circuits::{Circuit, Circuits, Counters, Transition};
pub use closed::Counts;
pub use event::{Effect, Event, Replaced, Role};
pub use machine::{Health, State};
pub use options::BreakerOptions;
pub use settings::BreakerSettings;
pub use signal::{Signal, signal};
pub use standings::PartitionStandings;
