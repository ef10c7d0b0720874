//! Tokio: multiplexed connections, the connection manager, pub/sub, MONITOR.

use crate::check::Suite;
use futures_util::StreamExt;
use redis::aio::ConnectionManagerConfig;
use redis::{AsyncCommands, AsyncConnectionConfig, AsyncTypedCommands, PushKind, Script};
use std::time::Duration;

pub fn run(suite: &Suite) {
    multiplexed(suite);
    managers(suite);
    pubsub(suite);
}

fn multiplexed(suite: &Suite) {
    suite.check_async("async: commands and a pipeline", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        AsyncTypedCommands::set(&mut con, "rs:a1", 42).await?;
        assert_eq!(con.get_int("rs:a1").await?, Some(42));
        let (value, missing): (i32, Option<i32>) =
            redis::pipe().atomic().get("rs:a1").get("rs:none").query_async(&mut con).await?;
        assert_eq!((value, missing), (42, None));
        Ok(())
    });

    suite.check_async("async: a hundred tasks share one connection", |client| async move {
        let con = client.get_multiplexed_async_connection().await?;
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                let mut con = con.clone();
                tokio::spawn(async move {
                    let key = format!("rs:task:{i}");
                    AsyncTypedCommands::set(&mut con, &key, i).await?;
                    AsyncCommands::get::<_, i32>(&mut con, &key).await
                })
            })
            .collect();
        for (i, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await??, i as i32);
        }
        Ok(())
    });

    suite.check_async("async: a script after SCRIPT FLUSH", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        redis::cmd("SCRIPT").arg("FLUSH").exec_async(&mut con).await?;
        let script = Script::new("return tonumber(ARGV[1]) * 2");
        assert_eq!(script.arg(21).invoke_async::<i32>(&mut con).await?, 42);
        Ok(())
    });

    suite.check_async("async: iterators over SCAN and SSCAN", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        AsyncTypedCommands::sadd(&mut con, "rs:aset", (0..500).collect::<Vec<i32>>()).await?;
        let scan = AsyncCommands::sscan::<_, i32>(&mut con, "rs:aset").await?;
        let members: Vec<i32> = scan.map(Result::unwrap).collect().await;
        assert_eq!(members.into_iter().sum::<i32>(), 124_750);
        let keys: Vec<String> =
            AsyncCommands::scan_match(&mut con, "rs:task:*").await?.map(Result::unwrap).collect().await;
        assert_eq!(keys.len(), 100);
        Ok(())
    });

    suite.check_async("async: a response timeout", |client| async move {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_millis(50)));
        let mut con = client.get_multiplexed_async_connection_with_config(&config).await?;
        let late: redis::RedisResult<redis::Value> =
            redis::cmd("BLPOP").arg("rs:never").arg(0).query_async(&mut con).await;
        assert!(late.unwrap_err().is_timeout());
        Ok(())
    });

    suite.check_async("async: MONITOR", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        let mut monitor = client.get_async_monitor().await?.into_on_message::<String>();
        AsyncTypedCommands::set(&mut con, "rs:seen", "a b").await?;
        loop {
            let line = monitor.next().await.ok_or("the connection ended")?;
            if line.ends_with(r#""SET" "rs:seen" "a b""#) {
                return Ok(());
            }
        }
    });
}

fn managers(suite: &Suite) {
    suite.check_async("ConnectionManager: connects again after CLIENT KILL", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        let config = ConnectionManagerConfig::new().set_min_delay(Duration::from_millis(1)).set_number_of_retries(5);
        let mut manager = client.get_connection_manager_with_config(config).await?;
        let id: i64 = redis::cmd("CLIENT").arg("ID").query_async(&mut manager).await?;
        redis::cmd("CLIENT").arg("KILL").arg("ID").arg(id).exec_async(&mut con).await?;
        while AsyncTypedCommands::ping(&mut manager).await.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let new: i64 = redis::cmd("CLIENT").arg("ID").query_async(&mut manager).await?;
        assert!(new > id);
        Ok(())
    });

    suite.check_async3("ConnectionManager, RESP3: subscribes again after CLIENT KILL", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let config = ConnectionManagerConfig::new()
            .set_min_delay(Duration::from_millis(1))
            .set_push_sender(sender)
            .set_automatic_resubscription();
        let mut manager = client.get_connection_manager_with_config(config).await?;
        manager.subscribe("rs:again").await?;
        let id: i64 = redis::cmd("CLIENT").arg("ID").query_async(&mut manager).await?;
        redis::cmd("CLIENT").arg("KILL").arg("ID").arg(id).exec_async(&mut con).await?;
        while AsyncTypedCommands::publish(&mut con, "rs:again", "back").await? == 0 {
            let _ = AsyncTypedCommands::ping(&mut manager).await;
        }
        loop {
            let push = receiver.recv().await.ok_or("the sender is gone")?;
            if push.kind == PushKind::Message {
                return Ok(());
            }
        }
    });
}

fn pubsub(suite: &Suite) {
    suite.check_async("async pub/sub: channels and patterns", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        let mut pubsub = client.get_async_pubsub().await?;
        pubsub.subscribe("rs:wave").await?;
        pubsub.psubscribe("rs:w?ve").await?;
        assert_eq!(AsyncTypedCommands::publish(&mut con, "rs:wave", "banana").await?, 2);
        let mut stream = pubsub.on_message();
        for from_pattern in [false, true] {
            let message = stream.next().await.ok_or("the connection ended")?;
            assert_eq!((message.from_pattern(), message.get_payload::<String>()?.as_str()), (from_pattern, "banana"));
        }
        Ok(())
    });

    suite.check_async("async pub/sub: a split sink and stream", |client| async move {
        let mut con = client.get_multiplexed_async_connection().await?;
        let (mut sink, mut stream) = client.get_async_pubsub().await?.split();
        sink.subscribe("rs:split").await?;
        for i in 0..200 {
            AsyncTypedCommands::publish(&mut con, "rs:split", i).await?;
        }
        for i in 0..200 {
            assert_eq!(stream.next().await.ok_or("the connection ended")?.get_payload::<i32>()?, i);
        }
        sink.unsubscribe("rs:split").await?;
        assert_eq!(AsyncTypedCommands::publish(&mut con, "rs:split", 0).await?, 0);
        Ok(())
    });

    suite.check_async3("async, RESP3: push messages, one of a shard channel", |client| async move {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let config = AsyncConnectionConfig::new().set_push_sender(sender);
        let mut con = client.get_multiplexed_async_connection_with_config(&config).await?;
        con.subscribe("rs:push").await?;
        AsyncTypedCommands::publish(&mut con, "rs:push", "hi").await?;
        redis::cmd("SSUBSCRIBE").arg("rs:shard").exec_async(&mut con).await?;
        AsyncTypedCommands::spublish(&mut con, "rs:shard", "hi").await?;
        for kind in [PushKind::Subscribe, PushKind::Message, PushKind::SSubscribe, PushKind::SMessage] {
            assert_eq!(receiver.recv().await.ok_or("the sender is gone")?.kind, kind);
        }
        Ok(())
    });
}
