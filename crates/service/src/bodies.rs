//! Memory for the bodies of requests, which are read as a whole: so much over all tenants, and a
//! part of it for each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_remote::Tenant;
use everlevel_remote::api::PART_BYTES;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted in, also for a body of fewer bytes.
const UNIT: u64 = 64 << 10;
/// A tenant has at most this part of the memory, so that one whose requests arrive slowly does not
/// keep others out.
const SHARE: u64 = 4;

/// Who may read a body now.
pub(crate) struct Bodies {
    all: Arc<Semaphore>,
    share: usize,
    tenants: Mutex<HashMap<Tenant, Arc<Semaphore>>>,
}

/// Memory for a body, until this is dropped.
pub(crate) struct Room {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

fn units(bytes: u64) -> usize {
    bytes.div_ceil(UNIT).max(1) as usize
}

impl Bodies {
    /// With so much memory, but enough for a body of every tenant's in any case.
    pub(crate) fn new(bytes: u64) -> Self {
        let least = units(PART_BYTES);
        let bytes = bytes.min(1 << 40);
        let all = Arc::new(Semaphore::new(units(bytes).max(least)));
        Bodies { all, share: units(bytes / SHARE).max(least), tenants: Mutex::default() }
    }

    /// Waits until there is room for a body of so many bytes; of unknown length it counts as the
    /// longest. None if nobody waits any more.
    pub(crate) async fn room(&self, tenant: &Tenant, declared: Option<u64>) -> Option<Room> {
        let units = units(declared.unwrap_or(PART_BYTES).min(PART_BYTES)) as u32;
        let own = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.share));
            tenants.entry(tenant.clone()).or_insert_with(new).clone()
        };
        let own = own.acquire_many_owned(units).await.ok()?;
        let all = self.all.clone().acquire_many_owned(units).await.ok()?;
        Some(Room { _own: own, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_does_not_take_the_room_of_others() {
        let (one, other): (Tenant, Tenant) = ("one".parse().unwrap(), "other".parse().unwrap());
        let bodies = Bodies::new(8 * PART_BYTES);
        let has_room = |of: &Tenant| {
            let room = std::pin::pin!(bodies.room(of, None));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match Future::poll(room, &mut context) {
                std::task::Poll::Ready(room) => room,
                std::task::Poll::Pending => None,
            }
        };
        let first = [has_room(&one), has_room(&one)];
        assert!(first.iter().all(Option::is_some));
        assert!(has_room(&one).is_none() && has_room(&other).is_some());
        drop(first);
        assert!(has_room(&one).is_some());
    }
}
