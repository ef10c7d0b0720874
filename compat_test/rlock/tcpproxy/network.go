package tcpproxy

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Network is the way of one client to its servers. Its methods may be called from any
// goroutine.
type Network struct {
	wg sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	proxies map[string]*proxy
	links   map[*link]bool
	conns   int // number of the last connection
	rule    Rule
	plan    *running
	open    chan struct{} // closed unless the network stalls
	down    bool
	closed  bool
	counts  [kinds]int
}

// New returns a Network without faults. It ends with the test.
func New(tb testing.TB) *Network {
	n := &Network{proxies: map[string]*proxy{}, links: map[*link]bool{}, open: make(chan struct{})}
	close(n.open)
	tb.Cleanup(n.Close)
	return n
}

// Dial connects to a server through its proxy. It is a Dialer for go-redis.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p, err := n.proxy(addr)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, p.ln.Addr().String())
}

// proxy is a listener in front of one server.
type proxy struct {
	n    *Network
	ln   net.Listener
	addr string // of the server
}

func (n *Network) proxy(addr string) (*proxy, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, net.ErrClosed
	}
	if p := n.proxies[addr]; p != nil {
		return p, nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{n: n, ln: ln, addr: addr}
	n.proxies[addr] = p
	n.wg.Go(p.accept)
	return p, nil
}

func (p *proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.n.wg.Go(func() { p.serve(c.(*net.TCPConn)) })
	}
}

// serve connects a client with the server and starts to pass bytes.
func (p *proxy) serve(client *net.TCPConn) {
	l, fault := p.n.newLink(p, client)
	if l == nil {
		reset(client)
		return
	}
	if fault.Kind == Vanish {
		l.vanish(Vanish)
	}
	server, err := net.Dial("tcp", p.addr)
	if err != nil {
		l.reset()
		return
	}
	if !l.connect(server.(*net.TCPConn)) {
		return
	}
	p.n.wg.Go(l.readReplies)
	p.n.wg.Go(func() { l.requests.deliver(l, l.server) })
	p.n.wg.Go(func() { l.replies.deliver(l, l.client) })
	l.readRequests()
}

// newLink returns the link of a new connection, or nil when the network refuses it.
func (n *Network) newLink(p *proxy, client *net.TCPConn) (*link, Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down || n.closed {
		return nil, Fault{}
	}
	n.conns++
	l := &link{proxy: p, id: n.conns, client: client, dead: make(chan struct{}),
		requests: newQueue(), replies: newQueue()}
	fault := Fault{}
	if n.plan != nil {
		fault = draw(n.plan.chance(3*l.id), n.plan.phase().Accepts)
	}
	n.counts[fault.Kind]++
	n.counts[None] = 0
	if fault.Kind == Reset {
		return nil, fault
	}
	n.links[l] = true
	return l, fault
}

// Follow makes the network follow a plan from now on. nil ends the plan.
func (n *Network) Follow(plan *Plan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plan = nil
	if plan != nil {
		n.plan = plan.start()
	}
}

// Apply makes the rule decide about every command from now on, before the plan does.
// nil ends the rule.
func (n *Network) Apply(rule Rule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rule = rule
}

// Stall holds all bytes of all connections in both directions until Heal. Heal delivers
// them, even if the client has closed its connection.
func (n *Network) Stall() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.open:
		n.open = make(chan struct{})
	default: // it stalls already
	}
}

// Cut resets all connections and refuses new ones until Heal.
func (n *Network) Cut() {
	n.mu.Lock()
	n.down = true
	n.mu.Unlock()
	n.Drop()
}

// Drop resets all present connections. New connections work.
func (n *Network) Drop() {
	for _, l := range n.all() {
		l.reset()
	}
}

// Heal ends Stall, Cut, the plan and the rule. Connections that vanished stay so.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down, n.rule, n.plan = false, nil, nil
	n.resume()
}

// Resume ends Stall and Cut only.
func (n *Network) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
	n.resume()
}

func (n *Network) resume() {
	select {
	case <-n.open:
	default:
		close(n.open)
	}
}

// Faults returns how many faults there were.
func (n *Network) Faults() (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, count := range n.counts {
		sum += count
	}
	return sum
}

// Counts returns how many faults of each kind there were, by Kind.
func (n *Network) Counts() [kinds]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts
}

// Close ends all connections and the proxies. Bytes that are delayed are lost.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	n.resume()
	proxies := n.proxies
	n.mu.Unlock()
	for _, p := range proxies {
		p.ln.Close()
	}
	for _, l := range n.all() {
		l.end()
	}
	n.wg.Wait()
}

func (n *Network) all() []*link {
	n.mu.Lock()
	defer n.mu.Unlock()
	links := make([]*link, 0, len(n.links))
	for l := range n.links {
		links = append(links, l)
	}
	return links
}

// decide returns the fault of a command.
func (n *Network) decide(l *link, c Command) Fault {
	n.mu.Lock()
	rule, plan := n.rule, n.plan
	n.mu.Unlock()
	fault := Fault{}
	if rule != nil {
		fault = rule(c)
	}
	if fault.Kind == None && plan != nil {
		if l.commandChance == nil {
			l.commandChance = plan.chance(3*l.id + 1)
		}
		fault = draw(l.commandChance, plan.phase().Commands)
	}
	n.count(fault.Kind)
	return fault
}

// decideMessage returns the fault of bytes that the server sends to a subscriber.
func (n *Network) decideMessage(l *link) Fault {
	n.mu.Lock()
	plan := n.plan
	n.mu.Unlock()
	if plan == nil {
		return Fault{}
	}
	if l.messageChance == nil {
		l.messageChance = plan.chance(3*l.id + 2)
	}
	fault := draw(l.messageChance, plan.phase().Messages)
	n.count(fault.Kind)
	return fault
}

func (n *Network) count(k Kind) {
	if k == None {
		return
	}
	n.mu.Lock()
	n.counts[k]++
	n.mu.Unlock()
}

// opened returns the channel that is closed unless the network stalls.
func (n *Network) opened() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open
}
