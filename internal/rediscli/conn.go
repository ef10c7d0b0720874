//lint:file-ignore ST1005 the texts are redis-cli's

package rediscli

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// conn is a connection to the server.
type conn struct {
	net.Conn
	in *bufio.Reader
}

// errClosed is a connection that the server has closed.
var errClosed = errors.New("Server closed the connection")

// dial connects. It does not authenticate.
func dial(o *options) (*conn, error) {
	network, address := o.network()
	socket, err := net.Dial(network, address)
	if err != nil {
		return nil, fmt.Errorf("Could not connect to Redis at %s: %s", o.address(), reasonOf(err))
	}
	if o.tls {
		secure, err := o.handshake(socket)
		if err != nil {
			socket.Close()
			return nil, fmt.Errorf("Could not connect to Redis at %s: %w", o.address(), err)
		}
		socket = secure
	}
	return &conn{socket, bufio.NewReader(socket)}, nil
}

// handshake starts TLS on a socket.
func (o *options) handshake(socket net.Conn) (net.Conn, error) {
	set := &tls.Config{ServerName: o.host, InsecureSkipVerify: o.insecure}
	if o.sni != "" {
		set.ServerName = o.sni
	}
	if o.caFile != "" || o.caDir != "" {
		pool, err := o.authorities()
		if err != nil {
			return nil, err
		}
		set.RootCAs = pool
	}
	if o.certFile != "" {
		pair, err := tls.LoadX509KeyPair(o.certFile, o.keyFile)
		if err != nil {
			return nil, fmt.Errorf("Invalid client certificate: %w", err)
		}
		set.Certificates = []tls.Certificate{pair}
	}
	secure := tls.Client(socket, set)
	return secure, secure.Handshake()
}

// authorities reads the certificates of --cacert and --cacertdir.
func (o *options) authorities() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if o.caFile != "" {
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, fmt.Errorf("Invalid CA Certificate File/Directory: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("Invalid CA Certificate File/Directory: "+
				"%s has no certificate", o.caFile)
		}
	}
	if o.caDir == "" {
		return pool, nil
	}
	files, err := os.ReadDir(o.caDir)
	if err != nil {
		return nil, fmt.Errorf("Invalid CA Certificate File/Directory: %w", err)
	}
	for _, file := range files {
		if pem, err := os.ReadFile(filepath.Join(o.caDir, file.Name())); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
	return pool, nil
}

// send sends one command.
func (c *conn) send(words []string) error {
	request := []byte("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, word := range words {
		request = append(request, "$"+strconv.Itoa(len(word))+"\r\n"+word+"\r\n"...)
	}
	_, err := c.Write(request)
	return plain(err)
}

// receive waits for one reply.
func (c *conn) receive() (reply, error) {
	r, err := readReply(c.in, 0)
	return r, plain(err)
}

// ask sends a command and returns its reply. The messages of RESP3 that come before
// the reply are dropped.
func (c *conn) ask(words ...string) (reply, error) {
	if err := c.send(words); err != nil {
		return reply{}, err
	}
	for {
		r, err := c.receive()
		if err != nil || r.kind != '>' {
			return r, err
		}
	}
}

// plain returns the end of a connection as errClosed, or its text as C's strerror
// has it.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errClosed
	}
	return errors.New(reasonOf(err))
}

// reasonOf returns the reason of a network error with a capital letter.
func reasonOf(err error) string {
	var unknown *net.DNSError
	if errors.As(err, &unknown) && unknown.IsNotFound {
		return "Name or service not known"
	}
	text := err.Error()
	if number := syscall.Errno(0); errors.As(err, &number) {
		text = number.Error()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
