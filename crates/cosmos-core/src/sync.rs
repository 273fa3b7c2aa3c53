//! The locks, atomics and hash keys of the tables that threads share, so that `loom` can check them.

#[cfg(not(cosmos_loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};
#[cfg(not(cosmos_loom))]
pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};

/// Keyed at random: ids come from callers.
#[cfg(not(cosmos_loom))]
pub(crate) type Keys = std::hash::RandomState;
/// The same in every run of a model, as the checker needs it.
#[cfg(cosmos_loom)]
pub(crate) type Keys = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

#[cfg(cosmos_loom)]
pub(crate) use loom::sync::MutexGuard;
#[cfg(cosmos_loom)]
pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};

/// Loom's lock with the interface of `parking_lot`'s.
#[cfg(cosmos_loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(cosmos_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}
