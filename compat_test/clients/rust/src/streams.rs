//! Streams and consumer groups, after the example streams.rs.

use crate::check::{until, Suite};
use redis::streams::*;
use redis::{Commands, Value};

pub fn run(suite: &Suite) {
    suite.check("streams: XADD with MAXLEN, XRANGE, XLEN, XDEL", |client| {
        let mut con = client.get_connection()?;
        for i in 1..=20 {
            let _: String = con.xadd_maxlen("rs:st", StreamMaxlen::Equals(10), format!("{i}-1"), &[("n", i)])?;
        }
        let length: usize = con.xlen("rs:st")?;
        assert_eq!(length, 10);
        let range: StreamRangeReply = con.xrange_count("rs:st", "12", "+", 2)?;
        let ids: Vec<_> = range.ids.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["12-1", "13-1"]);
        assert_eq!(range.ids[0].get::<i32>("n"), Some(12));
        let deleted: i32 = con.xdel("rs:st", &["12-1", "99-1"])?;
        assert_eq!(deleted, 1);
        Ok(())
    });

    suite.check("streams: XREAD of two streams", |client| {
        let mut con = client.get_connection()?;
        let _: String = con.xadd("rs:dog", "1-1", &[("bark", "x")])?;
        let _: String = con.xadd("rs:cat", "2-1", &[("meow", "y")])?;
        let options = StreamReadOptions::default().count(10);
        let reply: StreamReadReply = con.xread_options(&["rs:dog", "rs:cat"], &["0", "0"], &options)?;
        let keys: Vec<_> = reply.keys.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["rs:dog", "rs:cat"]);
        Ok(())
    });

    suite.check("streams: XREAD blocks until XADD", |client| {
        let mut con = client.get_connection()?;
        let mut blocked = client.get_connection()?;
        let waiting = std::thread::spawn(move || {
            let options = StreamReadOptions::default().block(0);
            Commands::xread_options::<_, _, StreamReadReply>(&mut blocked, &["rs:new"], &["$"], &options)
        });
        until(|| Ok(redis::cmd("CLIENT").arg("LIST").query::<String>(&mut con)?.contains("cmd=xread")))?;
        let _: String = con.xadd("rs:new", "7-1", &[("k", "v")])?;
        assert_eq!(waiting.join().unwrap()?.keys[0].ids[0].id, "7-1");
        Ok(())
    });

    suite.check("streams: a group, XREADGROUP, XACK, XPENDING", |client| {
        let mut con = client.get_connection()?;
        let _: () = con.xgroup_create_mkstream("rs:jobs", "group", "$")?;
        let again: redis::RedisResult<()> = con.xgroup_create("rs:jobs", "group", "$");
        assert_eq!(again.unwrap_err().code(), Some("BUSYGROUP"));
        let id: String = con.xadd("rs:jobs", "*", &[("k", "v")])?;
        let options = StreamReadOptions::default().group("group", "alice").count(3);
        let read: StreamReadReply = con.xread_options(&["rs:jobs"], &[">"], &options)?;
        assert_eq!(read.keys[0].ids[0].id, id);
        let pending: StreamPendingReply = con.xpending("rs:jobs", "group")?;
        assert_eq!(pending.count(), 1);
        let counted: StreamPendingCountReply = con.xpending_count("rs:jobs", "group", "-", "+", 10)?;
        assert_eq!((counted.ids[0].consumer.as_str(), counted.ids[0].times_delivered), ("alice", 1));
        let acknowledged: i32 = con.xack("rs:jobs", "group", &[&id])?;
        assert_eq!(acknowledged, 1);
        Ok(())
    });

    suite.check("streams: XCLAIM and XAUTOCLAIM", |client| {
        let mut con = client.get_connection()?;
        let _: () = con.xgroup_create_mkstream("rs:claim", "group", "0")?;
        let id: String = con.xadd("rs:claim", "*", &[("k", "v")])?;
        let options = StreamReadOptions::default().group("group", "alice");
        let _: StreamReadReply = con.xread_options(&["rs:claim"], &[">"], &options)?;
        let claimed: StreamClaimReply = con.xclaim("rs:claim", "group", "bob", 0, &[&id])?;
        assert_eq!(claimed.ids[0].id, id);
        let auto: StreamAutoClaimReply =
            con.xautoclaim_options("rs:claim", "group", "carol", 0, "0-0", StreamAutoClaimOptions::default().count(5))?;
        assert_eq!((auto.next_stream_id.as_str(), auto.claimed[0].id.as_str()), ("0-0", id.as_str()));
        Ok(())
    });

    suite.check("streams: XINFO of a stream, its groups and consumers", |client| {
        let mut con = client.get_connection()?;
        let _: () = con.xgroup_create_mkstream("rs:info", "group", "0")?;
        let _: String = con.xadd("rs:info", "5-5", &[("k", "v")])?;
        let _: Value = con.xgroup_createconsumer("rs:info", "group", "alice")?;
        let stream: StreamInfoStreamReply = con.xinfo_stream("rs:info")?;
        assert_eq!((stream.last_generated_id.as_str(), stream.length, stream.groups), ("5-5", 1, 1));
        let groups: StreamInfoGroupsReply = con.xinfo_groups("rs:info")?;
        assert_eq!((groups.groups[0].name.as_str(), groups.groups[0].consumers), ("group", 1));
        let consumers: StreamInfoConsumersReply = con.xinfo_consumers("rs:info", "group")?;
        assert_eq!(consumers.consumers[0].name, "alice");
        Ok(())
    });
}
