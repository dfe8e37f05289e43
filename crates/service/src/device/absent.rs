//! What a program without the feature `cuda` has in the place of a device: nothing.

use std::sync::Arc;

use everlevel::Keys;
use everlevel_remote::Told;

use crate::config::Device;
use crate::error::ServiceError;
use crate::keys::KeyCache;
use crate::metrics::Metric;
use crate::ready::{Found, Work};
use crate::residents::Of;
use crate::stop::Stop;

/// There is none.
pub(crate) enum DeviceJobs {}

impl DeviceJobs {
    pub(crate) fn open(device: &Device) -> Result<Self, ServiceError> {
        let message = format!(
            "the CUDA device {} cannot be used: this program was built without the feature cuda: \
             build it with that, or compute on the processor",
            device.ordinal
        );
        Err(Told { code: "gpu.none".into(), message }.into())
    }

    pub(crate) fn check(&self, _: &Keys) -> Result<(), ServiceError> {
        match *self {}
    }

    pub(crate) fn run(
        &self,
        _: &KeyCache,
        _: &Of,
        _: &Arc<Stop>,
        _: &impl Work,
    ) -> Result<Option<Found>, ServiceError> {
        match *self {}
    }

    pub(crate) fn forget(&self, _: &Of) {
        match *self {}
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        match *self {}
    }
}
