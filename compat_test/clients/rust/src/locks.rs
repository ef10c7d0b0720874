//! Locks as the documentation of SET shows them: SET NX PX, and a script that unlocks.

use crate::check::Suite;
use redis::{Client, Commands, Connection, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions, TypedCommands};
use std::time::Duration;

const UNLOCK: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

fn lock(con: &mut Connection, key: &str, owner: &str, ttl: u64) -> RedisResult<bool> {
    let options = SetOptions::default()
        .conditional_set(ExistenceCheck::NX)
        .with_expiration(SetExpiry::PX(ttl));
    let reply: Option<String> = Commands::set_options(con, key, owner, options)?;
    Ok(reply.is_some())
}

fn unlock(con: &mut Connection, key: &str, owner: &str) -> RedisResult<bool> {
    Script::new(UNLOCK).key(key).arg(owner).invoke(con)
}

pub fn run(suite: &Suite) {
    suite.check("a lock: a second owner has to wait, only the owner unlocks", |client| {
        let mut con = client.get_connection()?;
        assert!(lock(&mut con, "rs:lock", "one", 10_000)?);
        assert!(!lock(&mut con, "rs:lock", "two", 10_000)?);
        assert!(!unlock(&mut con, "rs:lock", "two")?);
        assert!(unlock(&mut con, "rs:lock", "one")?);
        assert!(lock(&mut con, "rs:lock", "two", 10_000)?);
        Ok(())
    });

    suite.check("a lock ends at its deadline", |client| {
        let mut con = client.get_connection()?;
        assert!(lock(&mut con, "rs:short", "one", 30)?);
        crate::check::until(|| lock(&mut con, "rs:short", "two", 10_000))?;
        assert!(!unlock(&mut con, "rs:short", "one")?);
        Ok(())
    });

    suite.check("a lock excludes eight threads", |client| {
        let threads: Vec<_> = (0..8).map(|i| worker(client.clone(), format!("owner {i}"))).collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")?;
        }
        let mut con = client.get_connection()?;
        assert_eq!(TypedCommands::get_int(&mut con, "rs:guarded")?, Some(80));
        Ok(())
    });
}

/// worker increments a counter ten times, with a GET and a SET inside the lock.
fn worker(client: Client, owner: String) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut con = client.get_connection().expect("a connection");
        for _ in 0..10 {
            while !lock(&mut con, "rs:mutex", &owner, 30_000).expect("lock") {
                std::thread::sleep(Duration::from_millis(1));
            }
            let value = TypedCommands::get_int(&mut con, "rs:guarded").expect("GET").unwrap_or(0);
            TypedCommands::set(&mut con, "rs:guarded", value + 1).expect("SET");
            assert!(unlock(&mut con, "rs:mutex", &owner).expect("unlock"));
        }
    })
}
