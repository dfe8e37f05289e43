//! Several processes with a PostgreSQL database are one service: this program starts the database
//! and itself as workers, kills them, lets them stand still, and looks at what became of the jobs.
//! Without PostgreSQL on the machine it says that it was skipped.

mod bucket;
mod postgres;
mod process;
mod s3;
mod scenes;
mod unpaired;

use std::path::Path;

use postgres::Instance;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--process", directory, database, rest @ ..] = &words[..] {
        return process::run(Path::new(directory), Path::new(database), rest);
    }
    // Names of tests, as for other test programs; options of theirs mean nothing here.
    let filter = words.iter().find(|word| !word.starts_with('-'));
    let Some(mut server) = Instance::start() else {
        println!("skipped: PostgreSQL is not installed");
        return;
    };
    type Test = fn(&mut Instance);
    let tests: [(&str, Test); 15] = [
        ("unpaired::directories_and_databases", unpaired::directories_and_databases),
        ("unpaired::connections", unpaired::connections),
        ("scenes::processes_are_one_service", scenes::processes_are_one_service),
        ("scenes::a_killed_worker_loses_its_job", scenes::a_killed_worker_loses_its_job),
        ("scenes::workers_are_killed_at_random", scenes::workers_are_killed_at_random),
        ("scenes::a_slow_worker_writes_nothing", scenes::a_slow_worker_writes_nothing),
        ("scenes::a_worker_that_ends_gives_back", scenes::a_worker_that_ends_gives_back),
        ("scenes::cancelled_from_elsewhere", scenes::cancelled_from_elsewhere),
        ("scenes::the_database_restarts", scenes::the_database_restarts),
        ("bucket::processes_are_one_service", bucket::processes_are_one_service),
        ("bucket::a_killed_worker_loses_its_job", bucket::a_killed_worker_loses_its_job),
        ("bucket::workers_are_killed_at_random", bucket::workers_are_killed_at_random),
        ("bucket::a_table_is_read_by_another_process", bucket::a_table_is_read_by_another_process),
        ("bucket::the_store_is_away", bucket::the_store_is_away),
        ("bucket::what_does_not_go_together", bucket::what_does_not_go_together),
    ];
    for (name, test) in tests {
        if filter.is_none_or(|filter| name.contains(filter)) {
            test(&mut server);
            println!("test {name} ... ok");
        }
    }
}
