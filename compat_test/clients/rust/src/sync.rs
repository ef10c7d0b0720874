//! Connections, values, pipelines, transactions and scripts, without async.

use crate::check::Suite;
use redis::{Commands, ConnectionLike, ErrorKind, Script, ServerErrorKind, TypedCommands, Value};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

pub fn run(suite: &Suite) {
    connections(suite);
    values(suite);
    pipelines(suite);
    transactions(suite);
    scripts(suite);
}

fn connections(suite: &Suite) {
    suite.check("connects: PING and CLIENT INFO", |client| {
        let mut con = client.get_connection()?;
        assert_eq!(TypedCommands::ping(&mut con)?, "PONG");
        let info: String = redis::cmd("CLIENT").arg("INFO").query(&mut con)?;
        assert!(info.contains(" cmd=client|info "), "{info}");
        Ok(())
    });

    suite.check3("RESP3: maps, doubles, sets and null as their types", |client| {
        let mut con = client.get_connection()?;
        redis::cmd("HSET").arg("rs:map").arg("a").arg(1).exec(&mut con)?;
        let map: Value = redis::cmd("HGETALL").arg("rs:map").query(&mut con)?;
        assert!(matches!(map, Value::Map(_)), "{map:?}");
        redis::cmd("ZADD").arg("rs:z3").arg(1.5).arg("x").exec(&mut con)?;
        let score: Value = redis::cmd("ZSCORE").arg("rs:z3").arg("x").query(&mut con)?;
        assert_eq!(score, Value::Double(1.5));
        redis::cmd("SADD").arg("rs:s3").arg("x").exec(&mut con)?;
        let set: Value = redis::cmd("SMEMBERS").arg("rs:s3").query(&mut con)?;
        assert!(matches!(set, Value::Set(_)), "{set:?}");
        let none: Value = redis::cmd("GET").arg("rs:none").query(&mut con)?;
        assert_eq!(none, Value::Nil);
        Ok(())
    });

    suite.check("a database by the URL", |client| {
        let mut con = client.get_connection()?;
        let addr = client.get_connection_info().addr().to_string();
        let mut other = redis::Client::open(format!("redis://{addr}/3"))?.get_connection()?;
        Commands::set::<_, _, ()>(&mut other, "rs:db3", 1)?;
        assert!(!TypedCommands::exists(&mut con, "rs:db3")?);
        redis::cmd("SELECT").arg(3).exec(&mut con)?;
        assert!(TypedCommands::exists(&mut con, "rs:db3")?);
        Ok(())
    });

    suite.check("ACL: a user by the URL, a wrong password, NOPERM", |client| {
        let mut con = client.get_connection()?;
        let addr = client.get_connection_info().addr().to_string();
        let rules = ["on", ">secret", "~rs:acl:*", "+@all"];
        redis::cmd("ACL").arg("SETUSER").arg("rs-user").arg(&rules).exec(&mut con)?;
        let wrong = redis::Client::open(format!("redis://rs-user:wrong@{addr}/"))?.get_connection();
        assert_eq!(wrong.err().map(|error| error.kind()), Some(ErrorKind::AuthenticationFailed));
        let mut user = redis::Client::open(format!("redis://rs-user:secret@{addr}/"))?.get_connection()?;
        let name: String = redis::cmd("ACL").arg("WHOAMI").query(&mut user)?;
        assert_eq!(name, "rs-user");
        let refused = TypedCommands::set(&mut user, "rs:other", 1).unwrap_err();
        assert_eq!(refused.code(), Some("NOPERM"));
        redis::cmd("ACL").arg("DELUSER").arg("rs-user").exec(&mut con)?;
        Ok(())
    });

    suite.check("a pool of r2d2, eight threads", |client| {
        let pool = r2d2::Pool::builder().max_size(4).build(client)?;
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let pool = pool.clone();
                std::thread::spawn(move || {
                    for _ in 0..50 {
                        let mut con = pool.get().expect("a connection");
                        let _: i64 = Commands::incr(&mut con, "rs:pooled", 1).expect("INCR");
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")?;
        }
        assert_eq!(TypedCommands::get_int(&mut pool.get()?, "rs:pooled")?, Some(400));
        Ok(())
    });

    suite.check("a read timeout of a blocking command", |client| {
        let mut con = client.get_connection()?;
        con.set_read_timeout(Some(Duration::from_millis(50)))?;
        let reply: redis::RedisResult<Value> = redis::cmd("BLPOP").arg("rs:never").arg(0).query(&mut con);
        assert!(reply.unwrap_err().is_timeout());
        Ok(())
    });

    suite.check("CLIENT KILL: the error says that the connection dropped", |client| {
        let mut con = client.get_connection()?;
        let mut killed = client.get_connection()?;
        let id: i64 = redis::cmd("CLIENT").arg("ID").query(&mut killed)?;
        redis::cmd("CLIENT").arg("KILL").arg("ID").arg(id).exec(&mut con)?;
        let error = TypedCommands::ping(&mut killed).unwrap_err();
        assert!(error.is_connection_dropped() || error.is_io_error(), "{error}");
        assert!(!killed.is_open());
        Ok(())
    });
}

fn values(suite: &Suite) {
    suite.check("values become integers, options, vectors, maps, sets and tuples", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::mset(&mut con, &[("rs:k1", "1"), ("rs:k2", "two")])?;
        let (k1, k2): (i32, String) = Commands::mget(&mut con, &["rs:k1", "rs:k2"])?;
        assert_eq!((k1, k2.as_str()), (1, "two"));
        let none: Option<String> = Commands::get(&mut con, "rs:none")?;
        assert_eq!(none, None);
        let _: () = Commands::hset_multiple(&mut con, "rs:hash", &[("a", 1), ("b", 2)])?;
        let map: HashMap<String, i32> = Commands::hgetall(&mut con, "rs:hash")?;
        assert_eq!(map, HashMap::from([("a".into(), 1), ("b".into(), 2)]));
        let _: () = Commands::sadd(&mut con, "rs:set", &[1, 2, 2, 3])?;
        let set: HashSet<i32> = Commands::smembers(&mut con, "rs:set")?;
        assert_eq!(set, HashSet::from([1, 2, 3]));
        Ok(())
    });

    suite.check("binary values, and a megabyte", |client| {
        let mut con = client.get_connection()?;
        let bytes: Vec<u8> = (0..1 << 20).map(|i| i as u8).collect();
        let _: () = Commands::set(&mut con, "rs:bytes", &bytes[..])?;
        let back: Vec<u8> = Commands::get(&mut con, "rs:bytes")?;
        assert!(back == bytes);
        Ok(())
    });

    suite.check("errors: the kind, the code and the detail", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::set(&mut con, "rs:text", "x")?;
        let wrong = TypedCommands::lpush(&mut con, "rs:text", 1).unwrap_err();
        assert_eq!(wrong.code(), Some("WRONGTYPE"));
        let not = TypedCommands::incr(&mut con, "rs:text", 1).unwrap_err();
        assert_eq!(not.kind(), ErrorKind::Server(ServerErrorKind::ResponseError));
        assert_eq!(not.detail(), Some("value is not an integer or out of range"));
        let unknown = redis::cmd("NOSUCH").exec(&mut con).unwrap_err();
        assert!(unknown.to_string().contains("unknown command 'NOSUCH'"), "{unknown}");
        Ok(())
    });
}

fn pipelines(suite: &Suite) {
    suite.check("a pipeline, some replies ignored", |client| {
        let mut con = client.get_connection()?;
        let (k1, k2): (i32, i32) = redis::pipe()
            .cmd("SET").arg("rs:p1").arg(42).ignore()
            .cmd("SET").arg("rs:p2").arg(43).ignore()
            .cmd("GET").arg("rs:p1")
            .cmd("GET").arg("rs:p2")
            .query(&mut con)?;
        assert_eq!((k1, k2), (42, 43));
        Ok(())
    });

    suite.check("a pipeline of 10,000 commands", |client| {
        let mut con = client.get_connection()?;
        let mut pipe = redis::pipe();
        for i in 0..10_000 {
            pipe.cmd("RPUSH").arg("rs:long").arg(i);
        }
        let lengths: Vec<i64> = pipe.query(&mut con)?;
        assert_eq!(lengths, (1..=10_000).collect::<Vec<i64>>());
        Ok(())
    });

    suite.check("a pipeline that fails: the connection is usable after it", |client| {
        let mut con = client.get_connection()?;
        let failed: redis::RedisResult<()> = redis::pipe().set("rs:p3", "x").lpush("rs:p3", 1).ping().query(&mut con);
        assert!(failed.unwrap_err().to_string().contains("WRONGTYPE"));
        let again: String = Commands::get(&mut con, "rs:p3")?;
        assert_eq!(again, "x");
        Ok(())
    });

    suite.check("an atomic pipeline", |client| {
        let mut con = client.get_connection()?;
        let (k1, k2): (i32, i32) = redis::pipe()
            .atomic()
            .set("rs:t1", 42).ignore()
            .set("rs:t2", 43).ignore()
            .get("rs:t1")
            .get("rs:t2")
            .query(&mut con)?;
        assert_eq!((k1, k2), (42, 43));
        Ok(())
    });

    suite.check("an atomic pipeline with a wrong command runs nothing", |client| {
        let mut con = client.get_connection()?;
        let failed: redis::RedisResult<()> =
            redis::pipe().atomic().set("rs:t3", 1).cmd("GET").query(&mut con);
        assert!(failed.is_err());
        assert!(!TypedCommands::exists(&mut con, "rs:t3")?);
        Ok(())
    });
}

fn transactions(suite: &Suite) {
    suite.check("transaction: WATCH, read, change", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::set(&mut con, "rs:tx", 41)?;
        let (new,): (isize,) = redis::transaction(&mut con, &["rs:tx"], |con, pipe| {
            let old: isize = Commands::get(con, "rs:tx")?;
            pipe.set("rs:tx", old + 1).ignore().get("rs:tx").query(con)
        })?;
        assert_eq!(new, 42);
        Ok(())
    });

    suite.check("transaction: runs again after another client's write", |client| {
        let mut con = client.get_connection()?;
        let mut other = client.get_connection()?;
        let _: () = Commands::set(&mut con, "rs:tx2", 1)?;
        let mut runs = 0;
        let (new,): (isize,) = redis::transaction(&mut con, &["rs:tx2"], |con, pipe| {
            runs += 1;
            let old: isize = Commands::get(con, "rs:tx2")?;
            if runs == 1 {
                let _: () = Commands::set(&mut other, "rs:tx2", 10)?;
            }
            pipe.set("rs:tx2", old + 1).ignore().get("rs:tx2").query(con)
        })?;
        assert_eq!((runs, new), (2, 11));
        Ok(())
    });
}

fn scripts(suite: &Suite) {
    suite.check("Script: EVALSHA, and SCRIPT LOAD after NOSCRIPT", |client| {
        let mut con = client.get_connection()?;
        let script = Script::new("return tonumber(ARGV[1]) + tonumber(ARGV[2]);");
        for _ in 0..2 {
            redis::cmd("SCRIPT").arg("FLUSH").exec(&mut con)?;
            let sum: i32 = script.arg(1).arg(2).invoke(&mut con)?;
            assert_eq!(sum, 3);
        }
        Ok(())
    });

    suite.check("Script: keys, tables and nil as Rust types", |client| {
        let mut con = client.get_connection()?;
        let script = Script::new("redis.call('SET', KEYS[1], ARGV[1]) return {KEYS[1], 1, {2, 'x'}, false}");
        let reply: (String, i32, (i32, String), Option<i32>) =
            script.key("rs:script").arg("v").invoke(&mut con)?;
        assert_eq!(reply, ("rs:script".into(), 1, (2, "x".into()), None));
        Ok(())
    });

    suite.check("Script: an error of redis.call", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::set(&mut con, "rs:text", "x")?;
        let failed = Script::new("return redis.call('INCR', KEYS[1])").key("rs:text").invoke::<i64>(&mut con);
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("value is not an integer") && text.contains("script:"), "{text}");
        Ok(())
    });

    suite.check("scripts in a pipeline: EVALSHA after load", |client| {
        let mut con = client.get_connection()?;
        let script = Script::new("return ARGV[1]");
        script.load(&mut con)?;
        let replies: (i32, i32) = redis::pipe()
            .invoke_script(&script.arg(1))
            .invoke_script(&script.arg(2))
            .query(&mut con)?;
        assert_eq!(replies, (1, 2));
        Ok(())
    });
}
