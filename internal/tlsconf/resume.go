package tlsconf

import (
	"crypto/tls"
	"encoding/binary"
	"time"
)

// resumption sets whether and for how many seconds a client may resume a session.
// The client's ticket holds the session, so the server needs no cache.
func resumption(conf *tls.Config, allowed bool, seconds int64) {
	conf.SessionTicketsDisabled = !allowed
	if !allowed {
		return
	}
	conf.WrapSession = func(cs tls.ConnectionState, session *tls.SessionState) ([]byte, error) {
		now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()))
		session.Extra = append(session.Extra, now)
		return conf.EncryptTicket(cs, session)
	}
	conf.UnwrapSession = func(ticket []byte, cs tls.ConnectionState) (*tls.SessionState, error) {
		session, err := conf.DecryptTicket(ticket, cs)
		if err != nil || session == nil || age(session) > seconds {
			return nil, err
		}
		return session, nil
	}
}

// age returns the seconds since the session's first ticket was made. A session
// without that time counts as very old.
func age(session *tls.SessionState) int64 {
	if len(session.Extra) == 0 || len(session.Extra[0]) != 8 {
		return 1 << 62
	}
	return time.Now().Unix() - int64(binary.BigEndian.Uint64(session.Extra[0]))
}
