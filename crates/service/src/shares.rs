//! Places that all tenants wait for, and of which each has at most a part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use everlevel_remote::Tenant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Who has places now.
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    share: usize,
    tenants: Mutex<HashMap<Tenant, Arc<Semaphore>>>,
}

/// Some places, until this is dropped.
pub(crate) struct Share {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Shares {
    /// `all` places over all tenants, and `share` for each of them.
    pub(crate) fn new(all: usize, share: usize) -> Self {
        Shares { all: Arc::new(Semaphore::new(all)), share, tenants: Mutex::default() }
    }

    /// Waits for some places, first for the tenant's own: whoever waits for much does not stand
    /// before all others. None if nobody waits any more.
    pub(crate) async fn take(&self, tenant: &Tenant, count: u32) -> Option<Share> {
        let own = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.share));
            tenants.entry(tenant.clone()).or_insert_with(new).clone()
        };
        let own = own.acquire_many_owned(count).await.ok()?;
        let all = self.all.clone().acquire_many_owned(count).await.ok()?;
        Some(Share { _own: own, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn one_tenant_that_waits_often_waits_once_before_others() {
        let (one, other): (Tenant, Tenant) = ("one".parse().unwrap(), "other".parse().unwrap());
        let shares = Shares::new(1, 1);
        let mut context = Context::from_waker(Waker::noop());
        let mut first = pin!(shares.take(&one, 1));
        let Poll::Ready(first) = first.as_mut().poll(&mut context) else { panic!("it is free") };
        let mut second = pin!(shares.take(&one, 1));
        assert!(second.as_mut().poll(&mut context).is_pending());
        let mut third = pin!(shares.take(&one, 1));
        assert!(third.as_mut().poll(&mut context).is_pending());
        let mut theirs = pin!(shares.take(&other, 1));
        assert!(theirs.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(theirs.as_mut().poll(&mut context).is_ready());
    }
}
