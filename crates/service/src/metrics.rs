//! Metrics for the operator of the service, over all tenants, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::jobs::Ended;
use crate::store::Counted;

/// A number that the service shows beside its own: name and kind, help, and values by label.
pub(crate) type Metric = ((&'static str, &'static str), &'static str, Vec<(&'static str, f64)>);

#[derive(Default)]
pub(crate) struct Metrics {
    /// Responses by the first digit of their status.
    responses: [AtomicU64; 6],
    received: AtomicU64,
    sent: AtomicU64,
}

impl Metrics {
    pub(crate) fn response(&self, status: u16) {
        let class = usize::from(status / 100).min(5);
        self.responses[class].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn text(
        &self,
        (jobs, queue): (Ended, Counted),
        (key_bytes, key_budget): (u64, u64),
        others: &[Metric],
    ) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(&str, f64)]| {
            let name = format!("everlevel_{name}");
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let classes = ["{class=\"2xx\"}", "{class=\"3xx\"}", "{class=\"4xx\"}", "{class=\"5xx\"}"];
        let responses: Vec<(&str, f64)> =
            classes.into_iter().zip(self.responses[2..].iter().map(count)).collect();
        metric("responses_total", "counter", "Responses by class of status.", &responses);
        metric(
            "received_bytes_total",
            "counter",
            "Bytes of uploads.",
            &[("", count(&self.received))],
        );
        metric("sent_bytes_total", "counter", "Bytes of downloads.", &[("", count(&self.sent))]);
        let ended = [
            ("{state=\"done\"}", jobs.done as f64),
            ("{state=\"failed\"}", jobs.failed as f64),
            ("{state=\"cancelled\"}", jobs.cancelled as f64),
        ];
        metric("jobs_ended_total", "counter", "Jobs that have ended, by state.", &ended);
        metric("job_seconds_total", "counter", "Seconds of jobs.", &[("", jobs.seconds)]);
        let now = [
            ("{state=\"queued\"}", queue.waiting as f64),
            ("{state=\"running\"}", queue.computed as f64),
        ];
        metric("jobs", "gauge", "Jobs that wait or are computed.", &now);
        metric(
            "key_memory_bytes",
            "gauge",
            "Memory promised to server keys.",
            &[("", key_bytes as f64)],
        );
        let budget = [("", key_budget as f64)];
        metric("key_memory_budget_bytes", "gauge", "Memory for server keys.", &budget);
        for ((name, kind), help, values) in others {
            metric(name, kind, help, values);
        }
        out
    }
}
