package soak

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// topics runs publishers and subscribers. Messages must arrive in order, and none may be
// missing.
func (l *load) topics(listeners *sync.WaitGroup) {
	const ears = 3
	for topic := range 3 {
		name := fmt.Sprintf("soak:topic:%d", topic)
		heard := make(chan int, ears)
		for range ears {
			l.listen(listeners, name, heard)
		}
		rdb, n := l.client(1), 0
		l.repeat("messages", time.Millisecond, func() error {
			err := patient(l.last, func() error {
				got, err := rdb.Publish(l.last, name, n).Result()
				return same("PUBLISH", got, err, ears)
			})
			if err != nil {
				return err
			}
			for range ears {
				select {
				case got := <-heard:
					if got != n {
						return fmt.Errorf("got message %d, want %d", got, n)
					}
				case <-time.After(time.Minute):
					return fmt.Errorf("message %d never came", n)
				}
			}
			n++
			return nil
		})
	}
}

// listen subscribes to a channel and sends the number in each message to heard. It
// returns when the subscription is confirmed.
func (l *load) listen(listeners *sync.WaitGroup, name string, heard chan<- int) {
	l.hear(listeners, "a subscriber", l.client(1).Subscribe(l.last, name), func(payload string) {
		var n int
		fmt.Sscan(payload, &n)
		select {
		case heard <- n:
		case <-l.last.Done():
		}
	})
}

// hear calls each for every message. It returns when the subscription is confirmed.
func (l *load) hear(listeners *sync.WaitGroup, who string, sub *redis.PubSub,
	each func(payload string)) {
	if _, err := sub.Receive(l.last); err != nil {
		l.fail(who+" that begins", err)
		return
	}
	listeners.Go(func() {
		defer context.AfterFunc(l.last, func() { sub.Close() })() // which ends the wait for a message
		for {
			m, err := sub.ReceiveMessage(l.last)
			if err != nil {
				l.fail(who, err)
				return
			}
			each(m.Payload)
		}
	})
}

// queues runs producers and blocking consumers. Items must arrive in order, each once.
func (l *load) queues() {
	for queue := range 2 {
		name := fmt.Sprintf("soak:queue:%d", queue)
		in, out := l.client(1), l.client(1)
		sent, got := 0, 0
		l.repeat("items sent", 3*time.Millisecond, func() error {
			err := patient(l.last, func() error { return in.RPush(l.last, name, sent).Err() })
			sent++
			return err
		})
		l.repeat("items received", 0, func() error {
			words, err := out.BLPop(l.last, time.Second, name).Result()
			if err == redis.Nil || busy(err) {
				return nil
			}
			if err != nil {
				return err
			}
			want := fmt.Sprint(got)
			got++
			return same("BLPOP", words[1], nil, want)
		})
	}
}

// hearLeases counts the expired events of leases.
func (l *load) hearLeases(listeners *sync.WaitGroup) {
	l.hear(listeners, "the listener for leases", l.client(1).PSubscribe(l.last,
		"__keyevent@0__:expired"), func(payload string) {
		if strings.HasSuffix(payload, ":lease") {
			l.count("leases that ended")
		}
	})
}
