package tcpproxy

import (
	"math/rand/v2"
	"time"
)

// Plan is a repeated sequence of phases.
type Plan struct {
	Seed   uint64
	Phases []Phase
}

// Phase is a time in which faults have fixed probabilities.
type Phase struct {
	Name string
	For  time.Duration

	Commands []Chance // faults of commands
	Messages []Chance // faults of the bytes that the server sends to a subscriber
	Accepts  []Chance // faults of new connections: Reset refuses, Vanish makes half open
}

// Chance is the probability of a kind of fault. Its duration is drawn between Min and
// Max.
type Chance struct {
	Of       float64
	Kind     Kind
	Min, Max time.Duration
}

// running is a plan with the time of its start.
type running struct {
	*Plan
	from time.Time
	sum  time.Duration
}

func (p *Plan) start() *running {
	r := &running{Plan: p, from: time.Now()}
	for _, phase := range p.Phases {
		r.sum += phase.For
	}
	return r
}

// chance returns a generator of the plan by its number.
func (r *running) chance(number int) *rand.Rand { return rand.New(rand.NewPCG(r.Seed, uint64(number))) }

// phase returns the present phase.
func (r *running) phase() Phase {
	at := time.Since(r.from) % r.sum
	for _, p := range r.Phases {
		if at < p.For {
			return p
		}
		at -= p.For
	}
	return Phase{}
}

func draw(rnd *rand.Rand, chances []Chance) Fault {
	at := rnd.Float64()
	for _, c := range chances {
		if at < c.Of {
			f := Fault{Kind: c.Kind, For: c.Min}
			if c.Max > c.Min {
				f.For += time.Duration(rnd.Int64N(int64(c.Max - c.Min)))
			}
			return f
		}
		at -= c.Of
	}
	return Fault{}
}
