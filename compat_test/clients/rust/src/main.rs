//! Checks of redis-rs: what its documentation and its examples show. See ../README.md.

mod asynchronous;
mod caching;
mod check;
mod commands;
mod locks;
mod pubsub;
mod streams;
mod sync;

fn main() {
    let port = std::env::args().nth(1).expect("the port");
    let suite = check::Suite::new(&port);
    sync::run(&suite);
    commands::run(&suite);
    locks::run(&suite);
    streams::run(&suite);
    pubsub::run(&suite);
    asynchronous::run(&suite);
    caching::run(&suite);
}
