package tlsconf

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// suite is a cipher suite for TLS 1.2 and older versions.
type suite struct {
	name   string // in OpenSSL's spelling
	id     uint16 // Go's
	groups string // OpenSSL's groups that contain the suite, with spaces between
}

// suites are the suites that Go has, in Go's order of preference. The suites
// without strong are weak: DEFAULT, HIGH and ALL do not select them, but their names
// and other groups do.
var suites = [...]suite{
	{"ECDHE-ECDSA-AES128-GCM-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
		strong + "ECDSA AECDSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"ECDHE-RSA-AES128-GCM-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		strong + "RSA ARSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"ECDHE-ECDSA-AES256-GCM-SHA384", tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
		strong + "ECDSA AECDSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"ECDHE-RSA-AES256-GCM-SHA384", tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		strong + "RSA ARSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"ECDHE-ECDSA-CHACHA20-POLY1305", tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		strong + "ECDSA AECDSA CHACHA20 TLSV1.2"},
	{"ECDHE-RSA-CHACHA20-POLY1305", tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		strong + "RSA ARSA CHACHA20 TLSV1.2"},
	{"ECDHE-ECDSA-AES128-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
		strong + "ECDSA AECDSA AES AES128 SHA1 SHA"},
	{"ECDHE-RSA-AES128-SHA", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
		strong + "RSA ARSA AES AES128 SHA1 SHA"},
	{"ECDHE-ECDSA-AES256-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
		strong + "ECDSA AECDSA AES AES256 SHA1 SHA"},
	{"ECDHE-RSA-AES256-SHA", tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
		strong + "RSA ARSA AES AES256 SHA1 SHA"},
	{"ECDHE-ECDSA-AES128-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
		"ECDHE EECDH KECDHE KEECDH ECDSA AECDSA AES AES128 SHA256 TLSV1.2"},
	{"ECDHE-RSA-AES128-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
		"ECDHE EECDH KECDHE KEECDH RSA ARSA AES AES128 SHA256 TLSV1.2"},
	{"AES128-GCM-SHA256", tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
		"KRSA RSA ARSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"AES256-GCM-SHA384", tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		"KRSA RSA ARSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"AES128-SHA256", tls.TLS_RSA_WITH_AES_128_CBC_SHA256,
		"KRSA RSA ARSA AES AES128 SHA256 TLSV1.2"},
	{"AES128-SHA", tls.TLS_RSA_WITH_AES_128_CBC_SHA,
		"KRSA RSA ARSA AES AES128 SHA1 SHA"},
	{"AES256-SHA", tls.TLS_RSA_WITH_AES_256_CBC_SHA,
		"KRSA RSA ARSA AES AES256 SHA1 SHA"},
}

const strong = "ALL DEFAULT HIGH ECDHE EECDH KECDHE KEECDH "

// absent are groups of OpenSSL in which Go has no suite. Excluding one of them
// changes nothing.
const absent = " ANULL ENULL NULL COMPLEMENTOFDEFAULT EXP EXPORT EXPORT40 EXPORT56 LOW MEDIUM " +
	"MD5 RC2 RC4 DES 3DES PSK KPSK SRP KSRP DSS ADSS DH DHE EDH KDHE KEDH KDH ADH AECDH " +
	"CAMELLIA CAMELLIA128 CAMELLIA256 ARIA ARIA128 ARIA256 SEED IDEA AESCCM AESCCM8 " +
	"SSLV2 SSLV3 "

// ciphers returns the suites that tls-ciphers selects. The list has names and
// groups; ! excludes suites for good, - removes suites that were selected before. A
// suite that Go lacks is ignored. Go decides the order of preference. Nil means
// Go's own selection.
func ciphers(list string) ([]uint16, error) {
	if list == "" {
		return nil, nil
	}
	var chosen []uint16
	banned := map[uint16]bool{}
	separator := func(r rune) bool { return strings.ContainsRune(":, ;", r) }
	for _, word := range strings.FieldsFunc(list, separator) {
		if strings.EqualFold(word, "@STRENGTH") {
			continue // Go orders the suites itself
		}
		name := strings.TrimLeft(word, "!-")
		excludes := name != word
		found := matching(strings.TrimPrefix(name, "+"))
		switch {
		case strings.HasPrefix(word, "@"), excludes && len(found) == 0 && !isAbsent(name):
			return nil, fmt.Errorf("tls-ciphers %q: %s is not supported", list, word)
		case !excludes:
			chosen = append(chosen, found...)
		default:
			for _, id := range found {
				banned[id] = banned[id] || word[0] == '!'
			}
			chosen = slices.DeleteFunc(chosen, func(id uint16) bool { return slices.Contains(found, id) })
		}
	}
	chosen = slices.DeleteFunc(chosen, func(id uint16) bool { return banned[id] })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("tls-ciphers %q: none of these ciphers is supported", list)
	}
	return chosen, nil
}

func isAbsent(group string) bool {
	return strings.Contains(absent, " "+strings.ToUpper(group)+" ")
}

// matching returns the suite with a name in OpenSSL's spelling, or the suites that
// are in every one of the groups joined by +.
func matching(word string) (ids []uint16) {
	groups := strings.Split(strings.ToUpper(word), "+")
	for _, s := range suites {
		in := strings.Fields(s.groups)
		lacks := func(group string) bool { return !slices.Contains(in, group) }
		if s.name == word || !slices.ContainsFunc(groups, lacks) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// cipherSuites checks tls-ciphersuites. Go always offers its three suites for TLS
// 1.3, so a list that lacks one of them is an error.
func cipherSuites(list string, newest uint16) error {
	if list == "" || newest < tls.VersionTLS13 {
		return nil
	}
	words := strings.Split(list, ":")
	for _, s := range tls.CipherSuites() {
		is13 := slices.Contains(s.SupportedVersions, tls.VersionTLS13)
		if is13 && !slices.Contains(words, s.Name) {
			return fmt.Errorf("tls-ciphersuites %q: %s cannot be left out", list, s.Name)
		}
	}
	return nil
}
