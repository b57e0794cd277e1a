package text

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
)

// The kernels of EncodeBase64 and DecodeBase64. The alphabet is that for URLs,
// as in TensorFlow.

// encodeBase64 encodes with padding if the attribute pad is set.
func encodeBase64(n *engine.Node) (func(*engine.Call) error, error) {
	encoding := base64.RawURLEncoding
	if n.Attrs.Bool("pad") {
		encoding = base64.URLEncoding
	}
	return each(func(s string) (string, error) { return encoding.EncodeToString([]byte(s)), nil }), nil
}

// decodeBase64 decodes the alphabet for URLs, with complete padding or none.
// Like TensorFlow, it ignores the unused bits of the last character.
func decodeBase64(s string) (string, error) {
	bare := s
	if len(s)%4 == 0 {
		bare = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	if strings.ContainsAny(bare, "\r\n") { // which package base64 skips
		return "", fmt.Errorf("the base64 text holds a line break")
	}
	b, err := base64.RawURLEncoding.DecodeString(bare)
	return string(b), err
}
