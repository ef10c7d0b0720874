//! Pub/sub without async, in RESP2 and RESP3, and keyspace events.

use crate::check::Suite;
use redis::{Commands, PushKind, TypedCommands};
use std::time::Duration;

pub fn run(suite: &Suite) {
    suite.check("pub/sub: channels", |client| {
        let mut con = client.get_connection()?;
        let mut listening = client.get_connection()?;
        let mut pubsub = listening.as_pubsub();
        pubsub.subscribe(&["rs:one", "rs:two"])?;
        assert_eq!(TypedCommands::publish(&mut con, "rs:two", "hello")?, 1);
        let message = pubsub.get_message()?;
        assert_eq!((message.get_channel_name(), message.get_payload::<String>()?.as_str()), ("rs:two", "hello"));
        pubsub.unsubscribe("rs:two")?;
        assert_eq!(TypedCommands::publish(&mut con, "rs:two", "hello")?, 0);
        Ok(())
    });

    suite.check("pub/sub: patterns", |client| {
        let mut con = client.get_connection()?;
        let mut listening = client.get_connection()?;
        let mut pubsub = listening.as_pubsub();
        pubsub.psubscribe("rs:p*")?;
        let _: i32 = Commands::publish(&mut con, "rs:pattern", 42)?;
        let message = pubsub.get_message()?;
        assert!(message.from_pattern());
        assert_eq!((message.get_pattern::<String>()?.as_str(), message.get_payload::<i32>()?), ("rs:p*", 42));
        Ok(())
    });

    suite.check("pub/sub: the connection is usable after the PubSub is dropped", |client| {
        let mut con = client.get_connection()?;
        {
            let mut pubsub = con.as_pubsub();
            pubsub.subscribe("rs:one")?;
            pubsub.psubscribe("rs:p*")?;
        }
        assert_eq!(TypedCommands::ping(&mut con)?, "PONG");
        Ok(())
    });

    suite.check("pub/sub: a read timeout without messages", |client| {
        let mut listening = client.get_connection()?;
        let mut pubsub = listening.as_pubsub();
        pubsub.subscribe("rs:silent")?;
        pubsub.set_read_timeout(Some(Duration::from_millis(30)))?;
        assert!(pubsub.get_message().is_err_and(|error| error.is_timeout()));
        Ok(())
    });

    suite.check3("RESP3: messages of a connection that runs commands", |client| {
        let mut con = client.get_connection()?;
        let (sender, receiver) = std::sync::mpsc::channel();
        con.set_push_sender(sender);
        con.subscribe_resp3("rs:push")?;
        let _: i32 = Commands::publish(&mut con, "rs:push", "to myself")?;
        assert_eq!(TypedCommands::ping(&mut con)?, "PONG");
        let kinds: Vec<_> = receiver.try_iter().map(|push| push.kind).collect();
        assert_eq!(kinds, [PushKind::Subscribe, PushKind::Message]);
        Ok(())
    });

    suite.check("keyspace events", |client| {
        let mut con = client.get_connection()?;
        redis::cmd("CONFIG").arg("SET").arg("notify-keyspace-events").arg("KEA").exec(&mut con)?;
        let mut listening = client.get_connection()?;
        let mut pubsub = listening.as_pubsub();
        pubsub.psubscribe("__keyevent@0__:*")?;
        redis::cmd("SET").arg("rs:event").arg(1).arg("PX").arg(5).exec(&mut con)?;
        let mut events = vec![];
        while events.len() < 3 {
            let message = pubsub.get_message()?;
            if message.get_payload::<String>()? == "rs:event" {
                events.push(message.get_channel_name().replace("__keyevent@0__:", ""));
            }
        }
        assert_eq!(events, ["set", "expire", "expired"]);
        redis::cmd("CONFIG").arg("SET").arg("notify-keyspace-events").arg("").exec(&mut con)?;
        Ok(())
    });
}
