// Command orders is a small service that ships orders. Several processes of it can
// run on one Redis; each order is shipped once.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/examples/metrics"
	"github.com/lockredis/lockredis/rlock"
)

func main() {
	redisAddr := flag.String("redis", "localhost:6379", "address of Redis")
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	flag.Parse()
	if err := serve(*addr, *redisAddr); err != nil {
		slog.Error("ended", "error", err)
		os.Exit(1)
	}
}

func serve(addr, redisAddr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rdb := redis.NewClient(&redis.Options{Addr: redisAddr})
	defer rdb.Close()
	var counts metrics.Metrics
	locks := rlock.New(rdb, rlock.Options{Observer: counts.Observer()})
	defer locks.Close()

	orders := &Orders{rdb: rdb, locks: locks, courier: slowly}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", &counts)
	mux.Handle("POST /orders/{id}/ship", handler(orders))
	work, cancelWork := context.WithCancel(context.Background())
	defer cancelWork()
	srv := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return work }}
	ended := make(chan error, 1)
	go func() { ended <- srv.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return end(srv, orders, 10*time.Second, cancelWork)
	}
}

// end waits at most limit for the orders in progress and then cancels the rest.
// When it returns, all locks are released, so the caller can close the Client.
func end(srv *http.Server, orders *Orders, limit time.Duration, cancelWork func()) error {
	last, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := srv.Shutdown(last)
	cancelWork()
	orders.Wait()
	return err
}

func handler(o *Orders) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch err := o.Ship(r.Context(), r.PathValue("id")); {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, ErrShipped):
			http.Error(w, err.Error(), http.StatusConflict)
		default:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}

// slowly takes the place of a courier's service: it needs two seconds for an order.
func slowly(ctx context.Context, id string) error {
	select {
	case <-time.After(2 * time.Second):
		slog.Info("shipped", "order", id)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
