//! The typed commands of each type of value.

use crate::check::Suite;
use redis::geo::{Coord, RadiusOptions, RadiusOrder, RadiusSearchResult, Unit};
use redis::{Commands, Direction, ExistenceCheck, Expiry, LposOptions, SetExpiry, SetOptions, TypedCommands};
use std::collections::HashSet;

pub fn run(suite: &Suite) {
    suite.check("strings: SET with options, GETEX, GETDEL, APPEND", |client| {
        let mut con = client.get_connection()?;
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .get(false)
            .with_expiration(SetExpiry::EX(60));
        let first: Option<String> = Commands::set_options(&mut con, "rs:str", "v", options.clone())?;
        assert_eq!(first.as_deref(), Some("OK"));
        let second: Option<String> = Commands::set_options(&mut con, "rs:str", "w", options)?;
        assert_eq!(second, None);
        assert_eq!(TypedCommands::get_ex(&mut con, "rs:str", Expiry::PX(90_000))?.as_deref(), Some("v"));
        assert!(redis::cmd("PTTL").arg("rs:str").query::<i64>(&mut con)? > 60_000);
        assert_eq!(TypedCommands::append(&mut con, "rs:str", "!")?, 2);
        assert_eq!(TypedCommands::get_del(&mut con, "rs:str")?.as_deref(), Some("v!"));
        Ok(())
    });

    suite.check("bits and HyperLogLog", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::setbit(&mut con, "rs:bits", 7, true)?;
        assert!(TypedCommands::getbit(&mut con, "rs:bits", 7)?);
        assert_eq!(TypedCommands::bitcount(&mut con, "rs:bits")?, 1);
        let _: () = Commands::pfadd(&mut con, "rs:hll", &["a", "b", "a"])?;
        assert_eq!(TypedCommands::pfcount(&mut con, "rs:hll")?, 2);
        Ok(())
    });

    suite.check("lists: LPOS, LMOVE, BLPOP that waits, BLMPOP", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::rpush(&mut con, "rs:list", &["a", "b", "c", "b"])?;
        let at: Vec<i32> = Commands::lpos(&mut con, "rs:list", "b", LposOptions::default().count(0))?;
        assert_eq!(at, [1, 3]);
        let moved: String = Commands::lmove(&mut con, "rs:list", "rs:other", Direction::Left, Direction::Right)?;
        assert_eq!(moved, "a");
        let mut blocked = client.get_connection()?;
        let waiting = std::thread::spawn(move || TypedCommands::blpop(&mut blocked, "rs:queue", 0.0));
        crate::check::until(|| Ok(redis::cmd("CLIENT").arg("LIST").query::<String>(&mut con)?.contains("cmd=blpop")))?;
        let _: () = Commands::rpush(&mut con, "rs:queue", "job")?;
        assert_eq!(waiting.join().unwrap()?, Some(["rs:queue".to_string(), "job".to_string()]));
        let popped: (String, Vec<String>) =
            Commands::blmpop(&mut con, 0.0, 2, &["rs:none", "rs:list"], Direction::Left, 2)?;
        assert_eq!(popped, ("rs:list".into(), vec!["b".into(), "c".into()]));
        Ok(())
    });

    suite.check("hashes", |client| {
        let mut con = client.get_connection()?;
        assert_eq!(TypedCommands::hset(&mut con, "rs:h", "f", 1)?, 1);
        assert!(!TypedCommands::hset_nx(&mut con, "rs:h", "f", 2)?);
        assert_eq!(TypedCommands::hincr(&mut con, "rs:h", "f", 1.5)?, 2.5);
        assert!(TypedCommands::hexists(&mut con, "rs:h", "f")?);
        let both: (Option<f64>, Option<f64>) = Commands::hmget(&mut con, "rs:h", &["f", "none"])?;
        assert_eq!(both, (Some(2.5), None));
        Ok(())
    });

    suite.check("sets: union, difference, SMOVE", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::sadd(&mut con, "rs:s1", &[1, 2, 3])?;
        let _: () = Commands::sadd(&mut con, "rs:s2", &[3, 4])?;
        let union: HashSet<i32> = Commands::sunion(&mut con, &["rs:s1", "rs:s2"])?;
        assert_eq!(union, HashSet::from([1, 2, 3, 4]));
        let difference: HashSet<i32> = Commands::sdiff(&mut con, &["rs:s1", "rs:s2"])?;
        assert_eq!(difference, HashSet::from([1, 2]));
        assert!(TypedCommands::smove(&mut con, "rs:s1", "rs:s2", 1)?);
        Ok(())
    });

    suite.check("sorted sets: ranges, ZPOPMIN, ZUNIONSTORE with weights", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::zadd_multiple(&mut con, "rs:z", &[(1, "a"), (2, "b"), (3, "c")])?;
        let range: Vec<(String, f64)> = TypedCommands::zrange_withscores(&mut con, "rs:z", 0, 1)?;
        assert_eq!(range, [("a".to_string(), 1.0), ("b".to_string(), 2.0)]);
        let by_score: Vec<String> = Commands::zrangebyscore(&mut con, "rs:z", "(1", "+inf")?;
        assert_eq!(by_score, ["b", "c"]);
        let stored: i32 = Commands::zunionstore_weights(&mut con, "rs:zu", &[("rs:z", 10)])?;
        assert_eq!(stored, 3);
        let popped: Vec<(String, f64)> = Commands::zpopmin(&mut con, "rs:zu", 1)?;
        assert_eq!(popped, [("a".to_string(), 10.0)]);
        Ok(())
    });

    suite.check("geo: distance, position, radius with options", |client| {
        let mut con = client.get_connection()?;
        let palermo = (Coord::lon_lat("13.361389", "38.115556"), "Palermo");
        let catania = (Coord::lon_lat("15.087269", "37.502669"), "Catania");
        let added: i32 = Commands::geo_add(&mut con, "rs:geo", &[palermo, catania])?;
        assert_eq!(added, 2);
        let distance: f64 = Commands::geo_dist(&mut con, "rs:geo", "Palermo", "Catania", Unit::Kilometers)?;
        assert_eq!(distance, 166.2742);
        let options = RadiusOptions::default().with_dist().order(RadiusOrder::Asc);
        let near: Vec<RadiusSearchResult> =
            Commands::geo_radius(&mut con, "rs:geo", 15.0, 37.0, 200.0, Unit::Kilometers, options)?;
        let names: Vec<_> = near.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Catania", "Palermo"]);
        Ok(())
    });

    suite.check("iterators over SCAN, HSCAN, SSCAN and ZSCAN", |client| {
        let mut con = client.get_connection()?;
        let mut pipe = redis::pipe();
        for i in 0..1000 {
            pipe.cmd("SADD").arg("rs:many").arg(i).ignore();
            pipe.cmd("SET").arg(format!("rs:scan:{i}")).arg(i).ignore();
            pipe.cmd("HSET").arg("rs:hmany").arg(i).arg(i).ignore();
        }
        pipe.exec(&mut con)?;
        let mut cmd = redis::cmd("SSCAN");
        cmd.arg("rs:many").cursor_arg(0);
        let members = cmd.iter::<i32>(&mut con)?.collect::<Result<HashSet<_>, _>>()?;
        assert_eq!(members.iter().sum::<i32>(), 499_500);
        let keys = Commands::scan_match::<_, String>(&mut con, "rs:scan:*")?.collect::<Result<HashSet<_>, _>>()?;
        assert_eq!(keys.len(), 1000);
        let pairs = Commands::hscan::<_, (i32, i32)>(&mut con, "rs:hmany")?.collect::<Result<Vec<_>, _>>()?;
        assert_eq!(pairs.len(), 1000);
        Ok(())
    });

    suite.check("keys: COPY, RENAME, TYPE, OBJECT ENCODING, EXPIREAT", |client| {
        let mut con = client.get_connection()?;
        let _: () = Commands::set(&mut con, "rs:from", 1)?;
        assert!(redis::cmd("COPY").arg("rs:from").arg("rs:to").query::<bool>(&mut con)?);
        assert!(!TypedCommands::rename_nx(&mut con, "rs:from", "rs:to")?);
        let encoding: String = Commands::object_encoding(&mut con, "rs:to")?;
        assert_eq!(encoding, "int");
        assert!(TypedCommands::expire_at(&mut con, "rs:to", 4_000_000_000)?);
        assert_eq!(redis::cmd("EXPIRETIME").arg("rs:to").query::<i64>(&mut con)?, 4_000_000_000);
        Ok(())
    });

    suite.check("INFO as a map, CONFIG GET as a map", |client| {
        let mut con = client.get_connection()?;
        let info: redis::InfoDict = redis::cmd("INFO").query(&mut con)?;
        assert_eq!(info.get::<String>("redis_mode").as_deref(), Some("standalone"));
        assert!(info.get::<String>("redis_version").is_some_and(|version| version.starts_with("7.0.")));
        let limits: std::collections::HashMap<String, i64> =
            redis::cmd("CONFIG").arg("GET").arg("*-max-*-entries").query(&mut con)?;
        assert_eq!(limits.get("hash-max-listpack-entries"), Some(&512));
        Ok(())
    });
}
