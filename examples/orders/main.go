// Command orders is a small service that ships orders. Several of them may run
// on one Redis: each order is shipped once.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rdb := redis.NewClient(&redis.Options{Addr: redisAddr})
	defer rdb.Close()
	var counts metrics.Metrics
	locks := rlock.New(rdb, rlock.Options{Observer: counts.Observer()})
	defer locks.Close()

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", &counts)
	mux.Handle("POST /orders/{id}/ship", handler(&Orders{rdb: rdb, locks: locks, courier: slowly}))
	srv := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- srv.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done(): // the orders under way are finished, and their locks released
		last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return srv.Shutdown(last)
	}
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

// slowly stands for a courier's service.
func slowly(ctx context.Context, id string) error {
	select {
	case <-time.After(2 * time.Second):
		slog.Info("shipped", "order", id)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
