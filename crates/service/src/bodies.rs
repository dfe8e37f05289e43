//! Memory for the bodies of requests, which are read as a whole: so much over all tenants, and a
//! part of it for each.

use everlevel_remote::Tenant;
use everlevel_remote::api::PART_BYTES;

use crate::shares::{Share, Shares};

/// What is counted in, also for a body of fewer bytes.
const UNIT: u64 = 64 << 10;
/// A tenant has at most this part of the memory, so that one whose requests arrive slowly does not
/// keep others out.
const SHARE: u64 = 4;

/// Who may read a body now.
pub(crate) struct Bodies(Shares);

fn units(bytes: u64) -> usize {
    bytes.div_ceil(UNIT).max(1) as usize
}

impl Bodies {
    /// With so much memory, but enough for a body of every tenant's in any case.
    pub(crate) fn new(bytes: u64) -> Self {
        let least = units(PART_BYTES);
        let bytes = bytes.min(1 << 40);
        Bodies(Shares::new(units(bytes).max(least), units(bytes / SHARE).max(least)))
    }

    /// Waits until there is room for a body of the declared length; if that is unknown, it
    /// counts as the longest. None if nobody waits any more.
    pub(crate) async fn room(&self, tenant: &Tenant, declared: Option<u64>) -> Option<Share> {
        let units = units(declared.unwrap_or(PART_BYTES).min(PART_BYTES)) as u32;
        self.0.take(tenant, units).await
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
