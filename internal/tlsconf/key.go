package tlsconf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"hash"
	"slices"
)

var (
	errNoPass    = errors.New("the key is encrypted: set tls-key-file-pass")
	errWrongPass = errors.New("the key cannot be decrypted with tls-key-file-pass")
	errScheme    = errors.New("the key is encrypted in a way that is not supported: " +
		"use PBES2 with PBKDF2 and AES-CBC, as openssl pkcs8 -topk8 does")
)

// decrypted returns PEM text with all its private keys decrypted.
func decrypted(text []byte, pass string) ([]byte, error) {
	var out []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		plain, err := plainBlock(block, pass)
		if err != nil {
			return nil, err
		}
		out = append(out, pem.EncodeToMemory(plain)...)
	}
	return out, nil
}

// plainBlock returns a PEM block, decrypted if it is an encrypted key.
func plainBlock(block *pem.Block, pass string) (*pem.Block, error) {
	//lint:ignore SA1019 the form is weak, but such keys exist, and the file is the server's own
	old := x509.IsEncryptedPEMBlock(block)
	modern := block.Type == "ENCRYPTED PRIVATE KEY"
	if !old && !modern {
		return block, nil
	}
	if pass == "" {
		return nil, errNoPass
	}
	if modern {
		der, err := decryptPKCS8(block.Bytes, pass)
		return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, err
	}
	//lint:ignore SA1019 see above
	der, err := x509.DecryptPEMBlock(block, []byte(pass))
	if err != nil {
		return nil, errWrongPass
	}
	return &pem.Block{Type: block.Type, Bytes: der}, nil
}

// encryptedKey is EncryptedPrivateKeyInfo of RFC 5958.
type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// pbes2 is PBES2-params of RFC 8018, A.4.
type pbes2 struct {
	KDF, Cipher pkix.AlgorithmIdentifier
}

// kdf is PBKDF2-params of RFC 8018, A.2.
type kdf struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// maxIterations limits the time that decrypting a key takes.
const maxIterations = 10_000_000

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}

	// keySizes are the key sizes of AES-CBC in bytes, by object identifier.
	keySizes = map[string]int{
		"2.16.840.1.101.3.4.1.2":  16,
		"2.16.840.1.101.3.4.1.22": 24,
		"2.16.840.1.101.3.4.1.42": 32,
	}

	// hashes are the hashes of PBKDF2's HMAC, by object identifier. A key without
	// an identifier uses SHA-1.
	hashes = map[string]func() hash.Hash{
		"": sha1.New, "1.2.840.113549.2.7": sha1.New,
		"1.2.840.113549.2.9": sha256.New, "1.2.840.113549.2.11": sha512.New,
	}
)

// decryptPKCS8 decrypts a key that is encrypted with PBES2. The standard library
// cannot do that.
func decryptPKCS8(der []byte, pass string) ([]byte, error) {
	var key encryptedKey
	var scheme pbes2
	var derive kdf
	var iv []byte
	ok := parsed(der, &key) && key.Algorithm.Algorithm.Equal(oidPBES2) &&
		parsed(key.Algorithm.Parameters.FullBytes, &scheme) && scheme.KDF.Algorithm.Equal(oidPBKDF2) &&
		parsed(scheme.KDF.Parameters.FullBytes, &derive) &&
		parsed(scheme.Cipher.Parameters.FullBytes, &iv)
	size := keySizes[scheme.Cipher.Algorithm.String()]
	newHash := hashes[derive.PRF.Algorithm.String()]
	if !ok || size == 0 || newHash == nil ||
		len(iv) != aes.BlockSize || derive.Iterations > maxIterations {
		return nil, errScheme
	}
	secret, err := pbkdf2.Key(newHash, pass, derive.Salt, derive.Iterations, size)
	if err != nil {
		return nil, errScheme
	}
	return decryptCBC(secret, iv, key.Data)
}

// parsed reports whether der holds one value that fits to, and nothing after it.
func parsed(der []byte, to any) bool {
	rest, err := asn1.Unmarshal(der, to)
	return err == nil && len(rest) == 0
}

// decryptCBC decrypts data and removes the padding. A wrong padding means a wrong
// key.
func decryptCBC(secret, iv, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(secret)
	if err != nil || len(data) == 0 || len(data)%aes.BlockSize != 0 {
		return nil, errScheme
	}
	plain := slices.Clone(data)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, plain)
	n := int(plain[len(plain)-1])
	if n == 0 || n > aes.BlockSize ||
		!bytes.Equal(plain[len(plain)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errWrongPass
	}
	plain = plain[:len(plain)-n]
	if _, err := x509.ParsePKCS8PrivateKey(plain); err != nil {
		return nil, errWrongPass
	}
	return plain, nil
}
