//! Checks and how they are printed.

use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::channel;
use std::time::Duration;

/// LIMIT ends a check that waits for a reply that never comes.
const LIMIT: Duration = Duration::from_secs(20);

const VERSION: &str = env!("REDIS_RS");

pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Suite prints the checks of redis-rs on one server.
pub struct Suite {
    url: String,
}

impl Suite {
    pub fn new(port: &str) -> Self {
        std::panic::set_hook(Box::new(|info| {
            if std::env::var_os("LOCKREDIS_CLIENTS_DEBUG").is_some() {
                eprintln!("{info}");
            }
        }));
        Suite { url: format!("redis://127.0.0.1:{port}/") }
    }

    /// check runs a check in a thread of its own and prints its line.
    pub fn check(&self, name: &str, body: impl FnOnce(redis::Client) -> Outcome + Send + 'static) {
        self.run(name, "", move |client| body(client));
    }

    /// check3 is check with the protocol RESP3.
    pub fn check3(&self, name: &str, body: impl FnOnce(redis::Client) -> Outcome + Send + 'static) {
        self.run(name, "?protocol=resp3", body);
    }

    /// check_async runs a check in a Tokio runtime of its own.
    pub fn check_async<F>(&self, name: &str, body: impl FnOnce(redis::Client) -> F + Send + 'static)
    where
        F: Future<Output = Outcome>,
    {
        self.run(name, "", move |client| block_on(body(client)));
    }

    pub fn check_async3<F>(&self, name: &str, body: impl FnOnce(redis::Client) -> F + Send + 'static)
    where
        F: Future<Output = Outcome>,
    {
        self.run(name, "?protocol=resp3", move |client| block_on(body(client)));
    }

    fn run(&self, name: &str, options: &str, body: impl FnOnce(redis::Client) -> Outcome + Send + 'static) {
        let client = redis::Client::open(format!("{}{options}", self.url)).expect("the server's URL");
        let (done, result) = channel();
        std::thread::spawn(move || {
            let outcome = match catch_unwind(AssertUnwindSafe(|| body(client))) {
                Ok(outcome) => outcome.map_err(|error| error.to_string()),
                Err(panic) => Err(match panic.downcast::<String>() {
                    Ok(text) => *text,
                    Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"panic").to_string(),
                }),
            };
            let _ = done.send(outcome);
        });
        let outcome = result
            .recv_timeout(LIMIT)
            .unwrap_or_else(|_| Err(format!("not done within {LIMIT:?}")));
        match outcome {
            Ok(()) => println!("redis-rs\t{VERSION}\tok\t{name}"),
            Err(reason) => {
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                println!("redis-rs\t{VERSION}\tFAIL\t{name}\t{reason}");
            }
        }
    }
}

fn block_on<F: Future<Output = Outcome>>(body: F) -> Outcome {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(body)
}

/// until waits for a condition. The check's limit ends a wait that is in vain.
pub fn until(mut condition: impl FnMut() -> redis::RedisResult<bool>) -> redis::RedisResult<()> {
    while !condition()? {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
