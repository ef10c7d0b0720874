package config

// TLS holds the fields of the TLS directives. File names are as they were given:
// Config.Path makes them absolute.
type TLS struct {
	Port     int  // 0: no TLS
	PortAuto bool // "tls-port auto": any free port

	CertFile, KeyFile string // PEM
	KeyPass           string // of an encrypted key, "": none
	CAFile, CADir     string // authorities that sign client certificates
	Clients           ClientAuth

	Links                         bool   // connections of a Sentinel to other nodes speak TLS
	ClientCertFile, ClientKeyFile string // PEM, for these connections, "": CertFile, KeyFile
	ClientKeyPass                 string

	Protocols      string // words such as "TLSv1.2", "": the default
	Ciphers        string // for versions up to TLS 1.2, in OpenSSL's spelling, "": the default
	CipherSuites   string // for TLS 1.3, in OpenSSL's spelling, "": the default
	Tickets        bool   // tls-session-caching: sessions may be resumed
	TicketLifetime int64  // tls-session-cache-timeout, seconds
}

// ClientAuth says whether a client of the TLS port needs a certificate.
type ClientAuth string

// The values of tls-auth-clients.
const (
	ClientAuthNo       ClientAuth = "no"
	ClientAuthYes      ClientAuth = "yes"
	ClientAuthOptional ClientAuth = "optional" // a client may have none, but not a wrong one
)

// Enabled reports whether there is a TLS port.
func (t *TLS) Enabled() bool { return t.Port != 0 || t.PortAuto }
