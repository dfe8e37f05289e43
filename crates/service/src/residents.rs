//! What is in memory for the server keys of tenants, within a number of bytes: what was not used
//! for the longest time makes room for what is new.

use everlevel_remote::{ObjectId, Tenant};

/// Whose server keys, and which.
pub(crate) type Of = (Tenant, ObjectId);

/// Something in memory.
pub(crate) struct Kept<T> {
    of: Of,
    pub(crate) bytes: u64,
    /// The number of jobs that use it: it stays while there is one.
    pub(crate) in_use: usize,
    last_use: u64,
    pub(crate) held: T,
}

/// All of it.
pub(crate) struct Residents<T> {
    kept: Vec<Kept<T>>,
    uses: u64,
}

impl<T> Default for Residents<T> {
    fn default() -> Self {
        Residents { kept: Vec::new(), uses: 0 }
    }
}

impl<T> Residents<T> {
    /// The bytes of everything.
    pub(crate) fn bytes(&self) -> u64 {
        self.kept.iter().map(|kept| kept.bytes).sum()
    }

    /// What is kept of these keys.
    pub(crate) fn find(&mut self, of: &Of) -> Option<&mut Kept<T>> {
        self.kept.iter_mut().find(|kept| kept.of == *of)
    }

    /// The same, which is used now.
    pub(crate) fn used(&mut self, of: &Of) -> Option<&mut Kept<T>> {
        self.uses += 1;
        let now = self.uses;
        let kept = self.find(of)?;
        kept.last_use = now;
        Some(kept)
    }

    /// Makes room for this number of bytes, if what has to be removed is not in use.
    pub(crate) fn make_room(&mut self, bytes: u64, budget: u64) -> bool {
        let idle = |kept: &&Kept<T>| kept.in_use == 0;
        let used: u64 = self.kept.iter().filter(|kept| !idle(kept)).map(|kept| kept.bytes).sum();
        if used + bytes > budget {
            return false;
        }
        while self.bytes() + bytes > budget {
            let oldest = self.kept.iter().filter(idle).map(|kept| kept.last_use).min();
            let Some(oldest) = oldest else { return false };
            self.kept.retain(|kept| kept.in_use > 0 || kept.last_use != oldest);
        }
        true
    }

    /// Keeps something, which is used now.
    pub(crate) fn put(&mut self, of: Of, bytes: u64, held: T) -> &mut Kept<T> {
        self.uses += 1;
        let at = self.kept.len();
        self.kept.push(Kept { of, bytes, in_use: 0, last_use: self.uses, held });
        &mut self.kept[at]
    }

    /// Removes what is kept of these keys.
    pub(crate) fn remove(&mut self, of: &Of) {
        self.kept.retain(|kept| kept.of != *of);
    }

    /// Removes it if it is not in use.
    pub(crate) fn forget(&mut self, of: &Of) {
        self.kept.retain(|kept| kept.of != *of || kept.in_use > 0);
    }
}

#[cfg(feature = "cuda")]
impl<T> Residents<T> {
    /// Everything, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|kept| &kept.held)
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tenant: &str) -> Of {
        (tenant.parse().unwrap(), "0".repeat(64).parse().unwrap())
    }

    #[test]
    fn what_was_used_last_stays() {
        let mut residents = Residents::default();
        for (tenant, bytes) in [("one", 40), ("two", 30), ("three", 20)] {
            assert!(residents.make_room(bytes, 100));
            residents.put(of(tenant), bytes, ());
        }
        let here = |residents: &mut Residents<()>| {
            ["one", "two", "three"].map(|tenant| residents.find(&of(tenant)).is_some())
        };
        assert!(residents.used(&of("one")).is_some() && residents.used(&of("four")).is_none());
        // The second was not used for the longest time; then the third was not.
        assert!(residents.make_room(40, 100));
        assert_eq!((here(&mut residents), residents.bytes()), ([true, false, true], 60));
        assert!(residents.make_room(41, 100));
        assert_eq!((here(&mut residents), residents.bytes()), ([true, false, false], 40));
        // What is in use stays, and nothing is removed in vain.
        residents.find(&of("one")).unwrap().in_use = 1;
        residents.put(of("two"), 30, ());
        assert!(!residents.make_room(61, 100));
        residents.forget(&of("one"));
        assert_eq!((here(&mut residents), residents.bytes()), ([true, true, false], 70));
        assert!(residents.make_room(60, 100));
        assert_eq!((here(&mut residents), residents.bytes()), ([true, false, false], 40));
        residents.remove(&of("one"));
        assert_eq!(residents.bytes(), 0);
    }
}
