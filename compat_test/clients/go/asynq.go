package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

// asynqWorld is a client, a server that processes tasks and an inspector.
type asynqWorld struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	done      chan string // what the handlers did
	started   chan string // tasks of the type "wait"
	ticks     chan string // tasks of the scheduler
}

type asynqRun = func(name string, f func(t *check.T, w *asynqWorld))

var asynqRedis = asynq.RedisClientOpt{Addr: addr}

func checkAsynq() {
	suite := check.New("asynq", "github.com/hibiken/asynq")
	asynqRedis.Addr = addr
	w := &asynqWorld{asynq.NewClient(asynqRedis), asynq.NewInspector(asynqRedis),
		make(chan string, 100), make(chan string, 100), make(chan string, 100)}
	defer w.client.Close()
	defer w.inspector.Close()
	server := asynq.NewServer(asynqRedis, asynq.Config{
		Concurrency: 10, Queues: map[string]int{"default": 1, "critical": 5, "grouped": 1, "paused": 1},
		LogLevel:          asynq.FatalLevel,
		TaskCheckInterval: 20 * time.Millisecond, DelayedTaskCheckInterval: 50 * time.Millisecond,
		GroupGracePeriod: time.Second, GroupMaxSize: 3,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return 10 * time.Millisecond },
		GroupAggregator: asynq.GroupAggregatorFunc(asynqAggregate),
	})
	failed := server.Start(asynq.HandlerFunc(w.process))
	run := func(name string, f func(t *check.T, w *asynqWorld)) {
		suite.Run(name, func(t *check.T) {
			t.OK(failed)
			f(t, w)
		})
	}
	asynqTasks(run)
	asynqInspection(run)
	suite.Run("Shutdown removes the server", func(t *check.T) {
		server.Shutdown()
		t.Equal(len(check.Must[[]*asynq.ServerInfo](t)(w.inspector.Servers())), 0)
	})
}

// asynqAggregate makes one task of a group.
func asynqAggregate(group string, tasks []*asynq.Task) *asynq.Task {
	var payloads []string
	for _, task := range tasks {
		payloads = append(payloads, string(task.Payload()))
	}
	slices.Sort(payloads)
	return asynq.NewTask("work", []byte(group+"="+strings.Join(payloads, "+")))
}

// process is the handler.
func (w *asynqWorld) process(ctx context.Context, task *asynq.Task) error {
	payload := string(task.Payload())
	retried, _ := asynq.GetRetryCount(ctx)
	switch task.Type() {
	case "flaky":
		if retried < 2 {
			return errors.New("not yet")
		}
	case "broken":
		return errors.New("broken for good")
	case "skip":
		return asynq.SkipRetry
	case "tick":
		w.ticks <- payload
		return nil
	case "wait":
		w.started <- payload
		<-ctx.Done()
		return ctx.Err()
	case "result":
		task.ResultWriter().Write([]byte("result of " + payload))
	}
	w.done <- payload
	return nil
}

// enqueue adds a task and returns its id.
func (w *asynqWorld) enqueue(t *check.T, kind, payload string, options ...asynq.Option) string {
	task := asynq.NewTask(kind, []byte(payload))
	return check.Must[*asynq.TaskInfo](t)(w.client.EnqueueContext(t, task, options...)).ID
}

// state waits until a task has the state.
func (w *asynqWorld) state(t *check.T, queue, id string, want asynq.TaskState) *asynq.TaskInfo {
	var info *asynq.TaskInfo
	t.Await("the state "+want.String(), func() (reached bool) {
		var err error
		info, err = w.inspector.GetTaskInfo(queue, id)
		return err == nil && info.State == want
	})
	return info
}

func asynqTasks(run asynqRun) {
	run("a task is processed", func(t *check.T, w *asynqWorld) {
		w.enqueue(t, "work", "one")
		t.Equal(check.Receive(t, w.done), "one")
	})
	run("two hundred tasks are processed once each", func(t *check.T, w *asynqWorld) {
		var group sync.WaitGroup
		seen := map[string]int{}
		group.Go(func() {
			for range 200 {
				seen[check.Receive(t, w.done)]++
			}
		})
		for i := range 200 {
			w.enqueue(t, "work", itoa(int64(i)))
		}
		group.Wait()
		t.Equal(len(seen), 200)
	})
	run("a task of another queue", func(t *check.T, w *asynqWorld) {
		w.enqueue(t, "work", "urgent", asynq.Queue("critical"))
		t.Equal(check.Receive(t, w.done), "urgent")
	})
	run("ProcessIn delays a task", func(t *check.T, w *asynqWorld) {
		begin := time.Now()
		w.enqueue(t, "work", "later", asynq.ProcessIn(2*time.Second))
		t.Equal(check.Receive(t, w.done), "later")
		t.True(time.Since(begin) > 900*time.Millisecond, "two whole seconds, less a part of the first")
	})
	run("a failed task is tried again", func(t *check.T, w *asynqWorld) {
		w.enqueue(t, "flaky", "third time", asynq.MaxRetry(5))
		t.Equal(check.Receive(t, w.done), "third time")
	})
	run("a task without retries left is archived", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "broken", "x", asynq.MaxRetry(1))
		info := w.state(t, "default", id, asynq.TaskStateArchived)
		t.Equal([]any{info.Retried, info.LastErr}, []any{1, "broken for good"})
	})
	run("SkipRetry archives at once", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "skip", "x", asynq.MaxRetry(9))
		t.Equal(w.state(t, "default", id, asynq.TaskStateArchived).Retried, 0)
	})
	run("Unique refuses a second task", func(t *check.T, w *asynqWorld) {
		options := []asynq.Option{asynq.Unique(time.Hour), asynq.ProcessIn(time.Hour)}
		id := w.enqueue(t, "work", "unique", options...)
		_, err := w.client.EnqueueContext(t, asynq.NewTask("work", []byte("unique")), options...)
		t.Is(err, asynq.ErrDuplicateTask)
		t.OK(w.inspector.DeleteTask("default", id))
		w.enqueue(t, "work", "unique", asynq.Unique(time.Hour))
		t.Equal(check.Receive(t, w.done), "unique")
	})
	run("TaskID refuses a second task with the id", func(t *check.T, w *asynqWorld) {
		w.enqueue(t, "work", "x", asynq.TaskID("own"), asynq.ProcessIn(time.Hour))
		_, err := w.client.EnqueueContext(t, asynq.NewTask("work", nil), asynq.TaskID("own"))
		t.Is(err, asynq.ErrTaskIDConflict)
	})
	run("Timeout ends a handler's context", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "wait", "x", asynq.Timeout(time.Second), asynq.MaxRetry(0))
		t.Equal(check.Receive(t, w.started), "x")
		t.Equal(w.state(t, "default", id, asynq.TaskStateArchived).LastErr, "context deadline exceeded")
	})
	run("a group becomes one task", func(t *check.T, w *asynqWorld) {
		for _, payload := range []string{"a", "b", "c"} {
			w.enqueue(t, "part", payload, asynq.Queue("grouped"), asynq.Group("g"))
		}
		t.Equal(check.Receive(t, w.done), "g=a+b+c")
	})
	run("a scheduler enqueues periodically", func(t *check.T, w *asynqWorld) {
		scheduler := asynq.NewScheduler(asynqRedis, &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
		id := check.Must[string](t)(scheduler.Register("@every 1s", asynq.NewTask("tick", []byte("tick"))))
		t.OK(scheduler.Start())
		t.Equal(check.Receive(t, w.ticks), "tick")
		t.Await("the entry of the scheduler", func() bool {
			entries, err := w.inspector.SchedulerEntries()
			return err == nil && len(entries) == 1 && entries[0].ID == id
		})
		scheduler.Shutdown()
	})
}

func asynqInspection(run asynqRun) {
	run("Retention keeps a result", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "result", "r", asynq.Retention(time.Hour))
		check.Receive(t, w.done)
		t.Equal(string(w.state(t, "default", id, asynq.TaskStateCompleted).Result), "result of r")
	})
	run("CancelProcessing reaches the handler by pub/sub", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "wait", "cancel", asynq.MaxRetry(0))
		check.Receive(t, w.started)
		t.OK(w.inspector.CancelProcessing(id))
		t.Equal(w.state(t, "default", id, asynq.TaskStateArchived).LastErr, "context canceled")
	})
	run("PauseQueue and UnpauseQueue", func(t *check.T, w *asynqWorld) {
		w.enqueue(t, "result", "first", asynq.Queue("paused"))
		check.Receive(t, w.done)
		t.OK(w.inspector.PauseQueue("paused"))
		id := w.enqueue(t, "work", "paused", asynq.Queue("paused"))
		info := check.Must[*asynq.QueueInfo](t)(w.inspector.GetQueueInfo("paused"))
		task := w.state(t, "paused", id, asynq.TaskStatePending)
		t.Equal([]any{info.Paused, info.Pending, task.Queue}, []any{true, 1, "paused"})
		t.OK(w.inspector.UnpauseQueue("paused"))
		t.Equal(check.Receive(t, w.done), "paused")
	})
	run("RunTask runs a scheduled task now", func(t *check.T, w *asynqWorld) {
		id := w.enqueue(t, "work", "now", asynq.ProcessIn(time.Hour))
		t.OK(w.inspector.RunTask("default", id))
		t.Equal(check.Receive(t, w.done), "now")
	})
	run("lists, archives and deletes tasks", func(t *check.T, w *asynqWorld) {
		for range 5 {
			w.enqueue(t, "work", "far", asynq.ProcessIn(time.Hour))
		}
		listed := check.Must[[]*asynq.TaskInfo](t)(
			w.inspector.ListScheduledTasks("default", asynq.PageSize(3), asynq.Page(1)))
		t.Equal(len(listed), 3)
		t.Equal(check.Must[int](t)(w.inspector.ArchiveAllScheduledTasks("default")) >= 5, true)
		t.Equal(check.Must[int](t)(w.inspector.DeleteAllArchivedTasks("default")) >= 5, true)
	})
	run("queues, servers and history", func(t *check.T, w *asynqWorld) {
		queues := check.Must[[]string](t)(w.inspector.Queues())
		t.Equal(len(queues), 4)
		servers := check.Must[[]*asynq.ServerInfo](t)(w.inspector.Servers())
		t.Equal([]any{len(servers), servers[0].Concurrency, servers[0].Status}, []any{1, 10, "active"})
		history := check.Must[[]*asynq.DailyStats](t)(w.inspector.History("default", 1))
		t.True(history[0].Processed > 200, "over 200 tasks today")
		info := check.Must[*asynq.QueueInfo](t)(w.inspector.GetQueueInfo("default"))
		t.True(info.MemoryUsage >= 0 && info.ProcessedTotal > 200, "the queue's figures")
	})
	run("DeleteQueue removes an empty queue", func(t *check.T, w *asynqWorld) {
		t.Await("the empty queue", func() bool { return w.inspector.DeleteQueue("paused", false) == nil })
	})
}
