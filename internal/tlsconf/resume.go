package tlsconf

import (
	"crypto/tls"
	"encoding/binary"
	"time"
)

// resumption lets clients resume their sessions for so many seconds, or not at
// all. A ticket holds the session, so there is no cache whose size could matter.
func resumption(conf *tls.Config, allowed bool, seconds int64) {
	conf.SessionTicketsDisabled = !allowed
	if !allowed {
		return
	}
	conf.WrapSession = func(state tls.ConnectionState, session *tls.SessionState) ([]byte, error) {
		session.Extra = append(session.Extra, binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix())))
		return conf.EncryptTicket(state, session)
	}
	conf.UnwrapSession = func(ticket []byte, state tls.ConnectionState) (*tls.SessionState, error) {
		session, err := conf.DecryptTicket(ticket, state)
		if err != nil || session == nil || age(session) > seconds {
			return nil, err
		}
		return session, nil
	}
}

// age returns the seconds since a session of ours was made.
func age(session *tls.SessionState) int64 {
	if len(session.Extra) == 0 || len(session.Extra[0]) != 8 {
		return 1 << 62
	}
	return time.Now().Unix() - int64(binary.BigEndian.Uint64(session.Extra[0]))
}
