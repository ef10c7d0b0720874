package lockredis

import (
	"context"
	"io"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
)

// Other packages of this module cannot reach unexported fields, and exported methods would
// show internal types to every user. So the ways in are registered with an internal package.
func init() {
	backdoor.Open = func(server any) backdoor.Inside {
		core := within(server.(*Server)).core
		engine := core.Engine()
		kit := engine.Kit()
		return backdoor.Inside{
			Inspector:        engine.Inspector(),
			RecordScriptKeys: engine.RecordScriptKeys,
			Follow:           engine.Follow,
			Call:             engine.RunDirect,
			Databases:        kit.Databases(),
			Settle:           core.Settle,
			Interrupt:        engine.Interrupt,
			EndScript:        kit.EndScript,
			PutBackSlots:     kit.PutBackSlots,
			Remember: func() func() error {
				now := kit.State()
				return func() error { return kit.Restore(now) }
			},
			Together:         kit.Together,
			PutClock:         kit.PutClock,
			Load:             kit.Load,
			Visit:            func() backdoor.Visitor { return kit.Visit() },
			Faults:           func() backdoor.Faults { return engine.Faults() },
			Reseed:           kit.Reseed,
			SaveAtEnd:        engine.Files().SaveAtEnd,
			Running:          server.(*Server).isRunning,
			Restart:          kit.Restart,
			SetDown:          kit.SetDown,
			Standing:         kit.Standing,
			SetLag:           kit.SetLag,
			Let:              kit.Let,
			Relink:           kit.Relink,
			Copies:           kit.Copies,
			ConnectionCounts: kit.ConnectionCounts,
			SetUser:          kit.SetUser,
			Listen: func(deliver func(pattern, channel, payload string)) backdoor.Listener {
				return kit.Listen(deliver)
			},
			Engine: engine,
		}
	}
	backdoor.Monitors = func(sentinels any) (all []backdoor.Monitor) {
		s := sentinels.(*Sentinels)
		for _, srv := range s.servers {
			all = append(all, monitor{srv, s.master})
		}
		return all
	}
	backdoor.Parse = func(p config.Program, args []string, stdin io.Reader) (any, error) {
		parsed, err := config.ParseProgram(p, args, stdin)
		if err != nil {
			return nil, err
		}
		return &Settings{config: parsed}, nil
	}
	backdoor.Config = func(settings any) *config.Config { return settings.(*Settings).config }
}

// monitor is a Sentinel as a backdoor.Monitor.
type monitor struct {
	srv    *Server
	master string
}

func (m monitor) Running() error { return m.srv.isRunning() }
func (m monitor) Addr() string   { return within(m.srv).mon.Addr(m.master) }

func (m monitor) AwaitAddr(ctx context.Context, addr string) error {
	return within(m.srv).mon.AwaitAddr(ctx, m.master, addr)
}

func (m monitor) Failover(ctx context.Context, addr string) error {
	return within(m.srv).mon.Failover(ctx, m.master, addr)
}
