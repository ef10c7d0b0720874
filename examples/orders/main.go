// Command orders is a small service that packs and ships orders. Several processes
// of it can run on one Redis; each order is shipped once.
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
	locks := rlock.New(rdb, rlock.Options{
		Observer:      rlock.LogTo(slog.Default()), // logs losses and failed releases
		UnlockOnClose: true,                        // unlocks the orders that are being packed
	})
	defer closeLocks(locks)
	orders := &Orders{rdb: rdb, locks: locks, courier: slowly}
	packing := &Packing{locks: locks}

	work, cancelWork := context.WithCancel(context.Background())
	defer cancelWork()
	srv := &http.Server{Addr: addr, Handler: routes(orders, packing),
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return work }}
	ended := make(chan error, 1)
	go func() { ended <- srv.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return end(srv, orders, 10*time.Second, cancelWork)
	}
}

// closeLocks closes the client. Requests under way have one second.
func closeLocks(locks *rlock.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := locks.Close(ctx); err != nil {
		slog.Warn("locks may stay until their leases end", "error", err)
	}
}

// end waits at most limit for the orders in progress, then cancels them. When it returns,
// no order is in progress, so the caller can close the Client.
func end(srv *http.Server, orders *Orders, limit time.Duration, cancelWork func()) error {
	last, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := srv.Shutdown(last)
	cancelWork()
	orders.Wait()
	return err
}

func routes(o *Orders, p *Packing) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders/{id}/ship", call(o.Ship))
	mux.Handle("POST /orders/{id}/open", call(p.Open))
	mux.Handle("POST /orders/{id}/scan", call(p.Scan))
	mux.Handle("POST /orders/{id}/done", call(p.Done))
	return mux
}

// call returns a handler that calls f with the request's order.
func call(f func(ctx context.Context, id string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch err := f(r.Context(), r.PathValue("id")); {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, ErrShipped), errors.Is(err, ErrNotOpen):
			http.Error(w, err.Error(), http.StatusConflict)
		case errors.Is(err, rlock.ErrTimeout):
			http.Error(w, "in use", http.StatusLocked)
		default:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}

// slowly stands for a courier's service. It takes two seconds for an order.
func slowly(ctx context.Context, id string) error {
	select {
	case <-time.After(2 * time.Second):
		slog.Info("shipped", "order", id)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
