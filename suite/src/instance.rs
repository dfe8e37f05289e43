//! Instances of workloads and their directories.

use std::path::PathBuf;

use crate::error::SuiteError;

/// An instance of a workload: a name that files are found by, and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its name, which directories have.
    pub name: &'static str,
    /// How many inputs it has.
    pub count: u64,
}

impl Instance {
    /// The instance with this name.
    ///
    /// # Errors
    /// Another name.
    pub fn named(all: &[Instance], name: &str) -> Result<Self, SuiteError> {
        let names = || all.iter().map(|instance| instance.name).collect::<Vec<_>>().join(", ");
        all.iter().find(|instance| instance.name == name).copied().ok_or_else(|| {
            SuiteError::Instance {
                expected: format!("an instance ({})", names()),
                found: format!("{name:?}"),
            }
        })
    }

    /// The instance of this size.
    ///
    /// # Errors
    /// Another size, or something else than a number.
    pub fn of_count(all: &[Instance], count: &str) -> Result<Self, SuiteError> {
        let counts = || {
            let counts = all.iter().map(|instance| instance.count.to_string());
            counts.collect::<Vec<_>>().join(", ")
        };
        let known = |instance: &&Instance| Ok(instance.count) == count.parse();
        all.iter().find(known).copied().ok_or_else(|| SuiteError::Instance {
            expected: format!("a size ({})", counts()),
            found: format!("{count:?}"),
        })
    }

    /// The instance at this place.
    ///
    /// # Errors
    /// Another place, or something else than a number.
    pub fn at(all: &[Instance], place: &str) -> Result<Self, SuiteError> {
        // One way to write a number: what names a file is not written in two ways.
        let known =
            |(i, instance): (usize, &Instance)| (i.to_string() == place).then_some(*instance);
        all.iter().enumerate().find_map(known).ok_or_else(|| SuiteError::Instance {
            expected: format!("a size (0 to {})", all.len() - 1),
            found: format!("{place:?}"),
        })
    }

    /// The instance with this name, which has to have this size.
    ///
    /// # Errors
    /// As [`Instance::named`] and [`Instance::of_count`]; those of two instances.
    pub fn with_count(all: &[Instance], name: &str, count: &str) -> Result<Self, SuiteError> {
        let (named, sized) = (Self::named(all, name)?, Self::of_count(all, count)?);
        if named != sized {
            return Err(SuiteError::Instance {
                expected: format!("{} inputs of instance {name}", named.count),
                found: count.into(),
            });
        }
        Ok(named)
    }

    /// A file of the data set, which the harness makes.
    pub fn dataset(&self, file: &str) -> PathBuf {
        ["datasets", self.name, file].iter().collect()
    }

    /// A file between stages.
    pub fn io(&self, file: &str) -> PathBuf {
        ["io", self.name, file].iter().collect()
    }
}
