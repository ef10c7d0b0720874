package sentinel

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// address says where an instance is.
type address struct {
	host string // as it was given: a name or an IP address
	ip   string // "": the name is not resolved
	port int    // 0: unknown, no connection is made
}

// is reports whether host and port name the address. host is a name or an IP address.
func (a address) is(host string, port int) bool {
	return a.port == port && (host == a.ip || canonical(host) == a.ip && a.ip != "" ||
		strings.EqualFold(host, a.host))
}

// canonical returns an IP address in its usual form, "" if host is a name. Like the C library,
// it reads up to a NUL, takes the old forms of IPv4 addresses and drops a zone.
func canonical(host string) string {
	host, _, _ = strings.Cut(host, "\x00")
	if ip, ok := parseIPv4(host); ok {
		return ip.String()
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	return ip.WithZone("").String()
}

// parseIPv4 parses an IPv4 address of one to four numbers, which may be hexadecimal (0x7f)
// or octal (017). The last number fills all bytes that are left: 1.2.3 is 1.2.0.3.
func parseIPv4(host string) (ip netip.Addr, ok bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var bits uint64
	for i, part := range parts {
		left := 8 * (3 - i) // bits behind this number
		most := uint64(math.MaxUint8)
		if i == len(parts)-1 {
			most, left = math.MaxUint32>>(8*i), 0
		}
		n, ok := parseIPv4Part(part)
		if !ok || n > most {
			return netip.Addr{}, false
		}
		bits |= n << left
	}
	return netip.AddrFrom4([4]byte{
		byte(bits >> 24), byte(bits >> 16), byte(bits >> 8), byte(bits),
	}), true
}

// parseIPv4Part parses a number as C does: its beginning says whether it is hexadecimal,
// octal or decimal.
func parseIPv4Part(part string) (n uint64, ok bool) {
	base, digits := 10, part
	switch {
	case strings.HasPrefix(part, "0x"), strings.HasPrefix(part, "0X"):
		base, digits = 16, part[2:]
	case len(part) > 1 && part[0] == '0':
		base, digits = 8, part[1:]
	}
	n, err := strconv.ParseUint(digits, base, 64) // refuses signs and blanks
	return n, err == nil
}
