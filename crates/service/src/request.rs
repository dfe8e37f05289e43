//! The request of a job, as it is stored with the job.

use everlevel_remote::api::{JobRequest, ObjectInfo, TableInfo};
use everlevel_remote::{IdempotencyKey, ObjectId};
use serde::{Deserialize, Serialize};

use crate::error::ServiceError;
use crate::store::{Change, Record};

/// The request of a job.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) request: JobRequest,
    /// The name that the client gave to the request.
    pub(crate) key: Option<IdempotencyKey>,
    /// The bytes that it counts against the quota.
    pub(crate) bytes: u64,
}

impl Record for Request {
    const KIND: &'static str = "request";
}

impl Change<'_> {
    /// Checks that everything that a request names exists, in the transaction that adds it.
    pub(crate) fn check_there(&mut self, request: &JobRequest) -> Result<(), ServiceError> {
        for id in request.objects() {
            let found = self.get::<ObjectInfo>(id.as_ref())?;
            found.ok_or(ServiceError::NotFound { what: "object" })?;
        }
        if let Some(id) = request.table() {
            let found = self.get::<TableInfo>(id.as_ref())?;
            found.ok_or(ServiceError::NotFound { what: "table" })?;
        }
        Ok(())
    }

    /// Checks that no unfinished job needs an object or a table.
    pub(crate) fn check_unused(
        &mut self,
        what: &'static str,
        id: &ObjectId,
    ) -> Result<(), ServiceError> {
        // Others have ended.
        for place in self.queued()? {
            let needs = |Request { request, .. }: Request| {
                request.objects().chain(request.table()).any(|needed| needed == id)
            };
            if self.get::<Request>(place.job.as_ref())?.is_some_and(needs) {
                return Err(ServiceError::InUse { what, job: place.job.to_string() });
            }
        }
        Ok(())
    }
}
