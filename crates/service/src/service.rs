//! One process: its state, its workers, and how both start and end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use everlevel_remote::{RemoteError, Told};

use crate::bodies::Bodies;
use crate::bucket::Bucket;
use crate::config::Config;
#[cfg(feature = "cluster")]
use crate::contents::InBucket;
use crate::contents::{Contents, Directory};
use crate::device::DeviceJobs;
use crate::error::ServiceError;
use crate::evaluate::Data;
use crate::files::{has_files, private_directory};
use crate::jobs::Jobs;
use crate::keys::KeyCache;
use crate::metrics::Metrics;
use crate::objects::Objects;
use crate::page::Page;
use crate::shares::Shares;
use crate::stop::Stop;
use crate::store::Store;
use crate::tables::Tables;
use crate::tls::ServerTls;
use crate::token::Tokens;
use crate::turns::Turn;

/// Everything that requests and workers share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) tokens: Tokens,
    pub(crate) data: Data,
    pub(crate) jobs: Jobs,
    pub(crate) metrics: Metrics,
    pub(crate) bodies: Bodies,
    pub(crate) page: Page,
    pub(crate) tls: Option<ServerTls>,
    /// Estimates are made one after the other, on a thread of their own; of each tenant one waits.
    pub(crate) estimating: Shares,
    pub(crate) estimates: rayon::ThreadPool,
}

/// A running service. When it is dropped, its workers end; their jobs wait until it starts again.
pub struct Service {
    pub(crate) shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

fn pool_of(threads: usize) -> Result<rayon::ThreadPool, ServiceError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| ServiceError::internal("starting threads")(&e))
}

/// The records and the bytes of a service, which belong together.
fn opened(config: &Config) -> Result<(Arc<Store>, Arc<dyn Contents>), ServiceError> {
    let (directory, database) = (&config.directory, config.database.as_ref());
    if let Some(bucket) = &config.bucket {
        return in_bucket(config, bucket);
    }
    let has_bytes = has_files(&directory.join("objects"))?;
    let store = Store::open(directory, database, None, has_bytes)?;
    Ok((Arc::new(store), Arc::new(Directory::new(directory))))
}

#[cfg(feature = "cluster")]
fn in_bucket(
    config: &Config,
    bucket: &Bucket,
) -> Result<(Arc<Store>, Arc<dyn Contents>), ServiceError> {
    let (directory, database) = (&config.directory, config.database.as_ref());
    if database.is_none() {
        return Err(bucket.refused("expected a database beside an object store, found none".into()));
    }
    let contents = InBucket::open(bucket, directory)?;
    let has_bytes = !contents.tenants()?.is_empty();
    let store = Store::open(directory, database, Some(&contents), has_bytes)?;
    Ok((Arc::new(store), Arc::new(contents)))
}

#[cfg(not(feature = "cluster"))]
fn in_bucket(config: &Config, _: &Bucket) -> Result<(Arc<Store>, Arc<dyn Contents>), ServiceError> {
    Err(ServiceError::State {
        path: config.directory.display().to_string(),
        problem: "this program was built without the feature cluster, which an object store \
                  needs: build it with that, or give none"
            .into(),
    })
}

impl Service {
    /// Opens the directory of a service, or makes it, and starts the workers.
    ///
    /// # Errors
    /// A directory that another process has open; a directory of a page that holds none; files for
    /// TLS or a device that cannot be used; what the system refuses.
    pub fn start(config: Config) -> Result<Self, ServiceError> {
        let tls = config.tls.as_ref().map(ServerTls::open).transpose()?;
        let device = config.device.as_ref().map(DeviceJobs::open).transpose()?;
        let directory = &config.directory;
        private_directory(directory).map_err(|e| {
            let problem = format!(
                "the directory of the service cannot be made: {e}: give another one, or make it \
                 and let this user write to it"
            );
            ServiceError::State { path: directory.display().to_string(), problem }
        })?;
        if config.workers == 0 && config.database.is_none() {
            let problem = "expected 1 or more jobs at the same time, found 0, where no other \
                           process computes them";
            return Err(ServiceError::malformed("the number of workers", problem));
        }
        let (store, contents) = opened(&config)?;
        let (opt_in, quota) = (config.opt_in, config.quota);
        let objects = Arc::new(Objects::new(store.clone(), contents, opt_in, quota));
        objects.recover()?;
        let tables = Tables::new(store.clone(), objects.clone(), opt_in, quota);
        tables.recover()?;
        let data = Data {
            objects: objects.clone(),
            tables,
            keys: KeyCache::new(objects, opt_in, config.key_memory, config.seeded_keys),
            device,
        };
        let shared = Arc::new(Shared {
            tokens: Tokens::in_directory(directory),
            data,
            jobs: Jobs::open(store, quota)?,
            metrics: Metrics::default(),
            bodies: Bodies::new(config.request_memory),
            page: config.page.as_deref().map(Page::read).transpose()?.unwrap_or_default(),
            tls,
            estimating: Shares::new(1, 1),
            estimates: pool_of(1)?,
            config,
        });
        let mut service = Service { shared, workers: Vec::new() };
        for number in 0..service.shared.config.workers {
            // A pool for each: a thread that waits for a part of its own job must not take up
            // another one.
            let pool = pool_of(service.shared.config.threads)?;
            let shared = service.shared.clone();
            service.spawn(format!("job {number}"), move || {
                while let Some(turn) = shared.jobs.next() {
                    pool.install(|| shared.work(turn));
                }
            })?;
        }
        let shared = service.shared.clone();
        service.spawn("claims".into(), move || shared.jobs.tend())?;
        Ok(service)
    }

    fn spawn(
        &mut self,
        name: String,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), ServiceError> {
        let thread = std::thread::Builder::new().name(name).spawn(work);
        self.workers.push(thread.map_err(|e| ServiceError::internal("starting threads")(&e))?);
        Ok(())
    }

    /// Runs jobs until `end` is ready, without answering requests, which other processes with the
    /// same database do.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn work(&self, end: impl Future<Output = ()>) -> Result<(), ServiceError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| ServiceError::internal("starting threads")(&e))?;
        runtime.block_on(end);
        Ok(())
    }
}

impl Shared {
    /// What ends an estimate: nobody waits longer for the answer to a request.
    pub(crate) fn patience(&self) -> Arc<Stop> {
        Arc::new(Stop::after(self.config.request_time.as_secs().max(1)))
    }

    fn work(&self, turn: Turn) {
        let Turn { claim, stop, .. } = &turn;
        let progress =
            |stage: &str, done, total| self.jobs.progress(&claim.job, stage, done, total);
        let run = || {
            let request = self.jobs.request(&turn)?;
            tracing::info!(job = %claim.job, "starts");
            self.data.run(&claim.tenant, &request, stop, &progress)
        };
        // The library does not panic on what it is given; a mistake in it ends one job.
        let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            Err(ServiceError::internal("a job")(&"it ended unexpectedly: please report this"))
        });
        let outcome = outcome.map_err(|e| self.concealed(e));
        self.jobs.end(&turn, outcome, &self.data.objects);
    }

    /// An error without the place of the service's files, which is nobody's business.
    pub(crate) fn concealed(&self, e: ServiceError) -> ServiceError {
        match e {
            ServiceError::Remote(RemoteError::Refused(Told { code, message })) => {
                let directory = self.config.directory.display().to_string();
                Told { code, message: message.replace(&directory, "") }.into()
            }
            e => e,
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.jobs.close();
        for worker in self.workers.drain(..) {
            // It has told why, if it panicked.
            let _ = worker.join();
        }
    }
}
