package org.redisson.command;

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** A timer task as those of Redisson's commands are: its package and its field tell. */
public final class CommandTask implements TimerTask {
    final CommandTask command = this; // where Redisson has a RedisExecutor
    public volatile boolean ran;

    @Override
    public void run(Timeout timeout) {
        ran = true;
    }
}
