package tlsconf

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// suite is a cipher suite of TLS 1.2 and before that Go has, in OpenSSL's
// spelling.
type suite struct {
	name  string
	id    uint16
	words string // the groups of OpenSSL that it is in
}

// suites are in the order of preference, as Go has it. Those that exchange keys
// without ECDHE are weak: they have to be asked for by name.
var suites = [...]suite{
	{"ECDHE-ECDSA-AES128-GCM-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, strong + "ECDSA AECDSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"ECDHE-RSA-AES128-GCM-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, strong + "RSA ARSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"ECDHE-ECDSA-AES256-GCM-SHA384", tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, strong + "ECDSA AECDSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"ECDHE-RSA-AES256-GCM-SHA384", tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, strong + "RSA ARSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"ECDHE-ECDSA-CHACHA20-POLY1305", tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, strong + "ECDSA AECDSA CHACHA20 TLSV1.2"},
	{"ECDHE-RSA-CHACHA20-POLY1305", tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, strong + "RSA ARSA CHACHA20 TLSV1.2"},
	{"ECDHE-ECDSA-AES128-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, strong + "ECDSA AECDSA AES AES128 SHA1 SHA"},
	{"ECDHE-RSA-AES128-SHA", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, strong + "RSA ARSA AES AES128 SHA1 SHA"},
	{"ECDHE-ECDSA-AES256-SHA", tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, strong + "ECDSA AECDSA AES AES256 SHA1 SHA"},
	{"ECDHE-RSA-AES256-SHA", tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, strong + "RSA ARSA AES AES256 SHA1 SHA"},
	{"ECDHE-ECDSA-AES128-SHA256", tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256, "ECDHE EECDH KECDHE KEECDH ECDSA AECDSA AES AES128 SHA256 TLSV1.2"},
	{"ECDHE-RSA-AES128-SHA256", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256, "ECDHE EECDH KECDHE KEECDH RSA ARSA AES AES128 SHA256 TLSV1.2"},
	{"AES128-GCM-SHA256", tls.TLS_RSA_WITH_AES_128_GCM_SHA256, "KRSA RSA ARSA AES AES128 AESGCM SHA256 TLSV1.2"},
	{"AES256-GCM-SHA384", tls.TLS_RSA_WITH_AES_256_GCM_SHA384, "KRSA RSA ARSA AES AES256 AESGCM SHA384 TLSV1.2"},
	{"AES128-SHA256", tls.TLS_RSA_WITH_AES_128_CBC_SHA256, "KRSA RSA ARSA AES AES128 SHA256 TLSV1.2"},
	{"AES128-SHA", tls.TLS_RSA_WITH_AES_128_CBC_SHA, "KRSA RSA ARSA AES AES128 SHA1 SHA"},
	{"AES256-SHA", tls.TLS_RSA_WITH_AES_256_CBC_SHA, "KRSA RSA ARSA AES AES256 SHA1 SHA"},
}

const strong = "ALL DEFAULT HIGH ECDHE EECDH KECDHE KEECDH "

// absent are groups of OpenSSL of which Go has no suite: to take them out is
// done already.
const absent = " ANULL ENULL NULL COMPLEMENTOFDEFAULT EXP EXPORT EXPORT40 EXPORT56 LOW MEDIUM MD5 RC2 RC4 DES 3DES PSK KPSK SRP KSRP DSS ADSS " +
	"DH DHE EDH KDHE KEDH KDH ADH AECDH CAMELLIA CAMELLIA128 CAMELLIA256 ARIA ARIA128 ARIA256 SEED IDEA AESCCM AESCCM8 SSLV2 SSLV3 "

// ciphers reads tls-ciphers: names and groups, some of them taken out again
// with ! or -. What OpenSSL knows and Go lacks adds nothing; their order is
// Go's. Nil means Go's own choice.
func ciphers(list string) ([]uint16, error) {
	if list == "" {
		return nil, nil
	}
	var chosen []uint16
	banned := map[uint16]bool{}
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(":, ;", r) }) {
		if strings.EqualFold(word, "@STRENGTH") {
			continue
		}
		out := strings.TrimLeft(word, "!-")
		found := matching(strings.TrimPrefix(out, "+"))
		switch {
		case strings.HasPrefix(word, "@"), out != word && len(found) == 0 && !strings.Contains(absent, " "+strings.ToUpper(out)+" "):
			return nil, fmt.Errorf("tls-ciphers %q: cannot carry out %s", list, word)
		case out == word:
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
		return nil, fmt.Errorf("tls-ciphers %q: none of them is there", list)
	}
	return chosen, nil
}

// matching returns the suites of a name, or of all the groups that + joins.
func matching(word string) (ids []uint16) {
	groups := strings.Split(strings.ToUpper(word), "+")
	for _, s := range suites {
		in := strings.Fields(s.words)
		if s.name == word || !slices.ContainsFunc(groups, func(g string) bool { return !slices.Contains(in, g) }) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// cipherSuites checks tls-ciphersuites: Go always offers the three suites of
// TLS 1.3 that it has, and none of them can be taken out.
func cipherSuites(list string, newest uint16) error {
	if list == "" || newest < tls.VersionTLS13 {
		return nil
	}
	words := strings.Split(list, ":")
	for _, s := range tls.CipherSuites() {
		if slices.Contains(s.SupportedVersions, tls.VersionTLS13) && !slices.Contains(words, s.Name) {
			return fmt.Errorf("tls-ciphersuites %q: %s cannot be left out", list, s.Name)
		}
	}
	return nil
}
