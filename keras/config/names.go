package config

import (
	"regexp"
	"strings"
)

var (
	wordStart = regexp.MustCompile(`(.)([A-Z][a-z]+)`)
	wordEnd   = regexp.MustCompile(`([a-z])([A-Z])`)
)

// SnakeCase returns the automatic name of an object of a class, as tf_keras's
// generic_utils.to_snake_case makes it:
// Dense is dense, LeakyReLU is leaky_re_lu. A name that would begin with "_" gets
// the prefix "private".
func SnakeCase(class string) string {
	s := wordStart.ReplaceAllString(class, "${1}_$2")
	s = strings.ToLower(wordEnd.ReplaceAllString(s, "${1}_$2"))
	if strings.HasPrefix(s, "_") {
		return "private" + s
	}
	return s
}
