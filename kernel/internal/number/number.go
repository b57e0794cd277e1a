// Package number reads numbers in texts as TensorFlow does. Packages
// kernel/lookup, kernel/parse and kernel/text use it. It must accept and refuse
// the same texts as the functions of tsl's numbers.h.
package number

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Space is the white space that may surround a number.
const Space = " \t\n\v\f\r"

// Float returns the number in a text, as TensorFlow reads it: a number that is
// too large is an infinity. bits is 32 or 64. White space around the number is
// allowed, an underscore isn't.
func Float(s string, bits int) (float64, error) {
	t := strings.Trim(s, Space)
	if strings.Contains(t, "_") {
		return 0, refused(s)
	}
	if h := strings.TrimLeft(t, "+-"); len(h) > 2 && (h[:2] == "0x" || h[:2] == "0X") && !strings.ContainsAny(h, "pP") {
		t += "p0"
	}
	if strings.EqualFold(strings.TrimLeft(t, "+-"), "nan") && len(t) <= 4 {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(t, bits)
	if err != nil && !math.IsInf(x, 0) {
		return 0, refused(s)
	}
	return x, nil
}

// Int returns the whole number in a text, as TensorFlow reads it.
func Int(s string, bits int) (int64, error) {
	x, err := strconv.ParseInt(strings.Trim(s, Space), 10, bits)
	if err != nil {
		return 0, refused(s)
	}
	return x, nil
}

// Uint returns the whole number in a text, as TensorFlow reads it.
func Uint(s string, bits int) (uint64, error) {
	x, err := strconv.ParseUint(strings.TrimPrefix(strings.Trim(s, Space), "+"), 10, bits)
	if err != nil {
		return 0, refused(s)
	}
	return x, nil
}

func refused(s string) error {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return fmt.Errorf("%q is no number of the wanted type", s)
}
