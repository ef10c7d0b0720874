//! Client-side caching: CLIENT TRACKING over RESP3.

use crate::check::Suite;
use redis::caching::{CacheConfig, CacheMode};
use redis::{AsyncCommands, AsyncConnectionConfig, AsyncTypedCommands, CommandCacheConfig};

pub fn run(suite: &Suite) {
    suite.check_async3("caching: a second GET is a hit", |client| async move {
        let config = AsyncConnectionConfig::new().set_cache_config(CacheConfig::default());
        let mut cached = client.get_multiplexed_async_connection_with_config(&config).await?;
        AsyncTypedCommands::set(&mut cached, "rs:c1", 7).await?;
        for _ in 0..10 {
            let value: i32 = redis::cmd("GET").arg("rs:c1").query_async(&mut cached).await?;
            assert_eq!(value, 7);
        }
        let statistics = cached.get_cache_statistics().ok_or("no statistics")?;
        assert!(statistics.hit >= 8, "{statistics:?}");
        Ok(())
    });

    suite.check_async3("caching: another client's SET invalidates", |client| async move {
        let mut other = client.get_multiplexed_async_connection().await?;
        let config = AsyncConnectionConfig::new().set_cache_config(CacheConfig::default());
        let mut cached = client.get_multiplexed_async_connection_with_config(&config).await?;
        AsyncTypedCommands::set(&mut other, "rs:c2", 1).await?;
        assert_eq!(AsyncCommands::get::<_, i32>(&mut cached, "rs:c2").await?, 1);
        AsyncTypedCommands::set(&mut other, "rs:c2", 2).await?;
        while AsyncCommands::get::<_, i32>(&mut cached, "rs:c2").await? != 2 {
            tokio::task::yield_now().await;
        }
        assert!(cached.get_cache_statistics().ok_or("no statistics")?.invalidate >= 1);
        Ok(())
    });

    suite.check_async3("caching: opt-in for single commands", |client| async move {
        let config = AsyncConnectionConfig::new().set_cache_config(CacheConfig::new().set_mode(CacheMode::OptIn));
        let mut cached = client.get_multiplexed_async_connection_with_config(&config).await?;
        AsyncTypedCommands::set(&mut cached, "rs:c3", 1).await?;
        for _ in 0..5 {
            let options = CommandCacheConfig::new().set_enable_cache(true);
            let value: i32 = redis::cmd("GET").arg("rs:c3").set_cache_config(options).query_async(&mut cached).await?;
            assert_eq!(value, 1);
        }
        assert!(cached.get_cache_statistics().ok_or("no statistics")?.hit >= 3);
        Ok(())
    });
}
