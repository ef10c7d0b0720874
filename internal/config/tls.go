package config

// TLS are the directives of TLS. The names of files are as they were given:
// relative ones are relative to dir, see Config.Path.
type TLS struct {
	Port     int  // 0: no TLS
	PortAuto bool // "tls-port auto": any free port

	CertFile, KeyFile string // PEM
	KeyPass           string // of an encrypted key, "": none
	CAFile, CADir     string // who may sign the certificates of clients
	Clients           ClientAuth

	Protocols      string // words as "TLSv1.2", "": the default
	Ciphers        string // up to TLS 1.2, in OpenSSL's spelling, "": the default
	CipherSuites   string // of TLS 1.3, in the same, "": the default
	Tickets        bool   // tls-session-caching: sessions may be resumed
	TicketLifetime int64  // tls-session-cache-timeout, seconds
}

// ClientAuth says whether a client of the TLS port needs a certificate.
type ClientAuth string

// The values of tls-auth-clients.
const (
	ClientAuthNo       ClientAuth = "no"
	ClientAuthYes      ClientAuth = "yes"
	ClientAuthOptional ClientAuth = "optional" // none is fine, a wrong one is not
)

// Enabled reports whether there is a TLS port.
func (t *TLS) Enabled() bool { return t.Port != 0 || t.PortAuto }

// tlsDirectives are the directives that a server has to act on when they change
// while it runs.
var tlsDirectives = [...]string{
	"tls-cert-file", "tls-key-file", "tls-key-file-pass", "tls-ca-cert-file", "tls-ca-cert-dir", "tls-auth-clients",
	"tls-protocols", "tls-ciphers", "tls-ciphersuites", "tls-session-caching", "tls-session-cache-timeout",
}

// OnTLSChange has apply called after CONFIG SET has changed a directive of TLS,
// or has named a certificate's file again. See OnChange.
func (c *Config) OnTLSChange(apply func() error) {
	for _, name := range tlsDirectives {
		c.OnChange(name, apply)
	}
}

func (c *Config) assignTLS(name, value string) {
	t := &c.TLS
	switch name {
	case "tls-port":
		t.PortAuto = value == portAuto
		t.Port = int(number(value))
	case "tls-cert-file":
		t.CertFile = value
	case "tls-key-file":
		t.KeyFile = value
	case "tls-key-file-pass":
		t.KeyPass = value
	case "tls-ca-cert-file":
		t.CAFile = value
	case "tls-ca-cert-dir":
		t.CADir = value
	case "tls-auth-clients":
		t.Clients = ClientAuth(value)
	case "tls-protocols":
		t.Protocols = value
	case "tls-ciphers":
		t.Ciphers = value
	case "tls-ciphersuites":
		t.CipherSuites = value
	case "tls-session-caching":
		t.Tickets = value == "yes"
	case "tls-session-cache-timeout":
		t.TicketLifetime = number(value)
	}
}
