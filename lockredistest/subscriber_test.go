package lockredistest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
)

func TestASubscriberReceivesWhatClientsPublish(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	sub := srv.NewSubscriber()
	sub.Subscribe("news", "sport")
	sub.PSubscribe("n*")
	if n := rdb.Publish(t.Context(), "news", "one").Val(); n != 2 {
		t.Errorf("%d receivers", n)
	}
	srv.Publish("sport", "two")
	srv.Publish("other", "three")
	want := []lockredistest.Message{
		{Channel: "news", Payload: "one"},
		{Channel: "news", Pattern: "n*", Payload: "one"},
		{Channel: "sport", Payload: "two"},
	}
	if got := sub.Messages(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := sub.Messages(); len(got) != 0 {
		t.Errorf("again: %+v", got)
	}
}

func TestReceiveWaitsForAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		sub := srv.NewSubscriber()
		sub.Subscribe("news")
		time.AfterFunc(time.Second, func() { srv.Publish("news", "one"); srv.Publish("news", "two") })
		start := time.Now()
		for _, want := range []string{"one", "two"} {
			if m, err := sub.Receive(t.Context()); err != nil || m.Payload != want {
				t.Errorf("%+v, %v; want %s", m, err, want)
			}
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("it took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if m, err := sub.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

func TestSubscriptionsOfASubscriberEnd(t *testing.T) {
	srv := lockredistest.RunT(t)
	sub, other := srv.NewSubscriber(), srv.NewSubscriber()
	sub.Subscribe("c", "a", "b")
	sub.PSubscribe("q*", "p*")
	other.Subscribe("a")
	check(t, "Channels", sub.Channels(), []string{"a", "b", "c"}, nil, nil)
	check(t, "Patterns", sub.Patterns(), []string{"p*", "q*"}, nil, nil)
	check(t, "PubSubChannels", srv.PubSubChannels(""), []string{"a", "b", "c"}, nil, nil)
	check(t, "PubSubChannels", srv.PubSubChannels("[ab]"), []string{"a", "b"}, nil, nil)
	check(t, "PubSubNumSub", srv.PubSubNumSub("a", "b", "x"),
		map[string]int{"a": 2, "b": 1, "x": 0}, nil, nil)
	check(t, "PubSubNumPat", srv.PubSubNumPat(), 2, nil, nil)
	sub.Unsubscribe("a", "x")
	sub.PUnsubscribe("q*")
	check(t, "Channels", sub.Channels(), []string{"b", "c"}, nil, nil)
	check(t, "Patterns", sub.Patterns(), []string{"p*"}, nil, nil)
	srv.Publish("b", "last")
	sub.Close()
	srv.Publish("b", "later")
	check(t, "PubSubChannels", srv.PubSubChannels(""), []string{"a"}, nil, nil)
	if got := sub.Messages(); len(got) != 1 || got[0].Payload != "last" {
		t.Errorf("%+v", got)
	}
}
