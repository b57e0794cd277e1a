package tensor

import (
	"strconv"
	"strings"
	"testing"
)

// Text that is read as a number, by a program that knows nothing of narrow types,
// is the value that was printed.
func TestNarrowFloatsReadBackFromText(t *testing.T) {
	for _, d := range []DType{BFloat16, Float8E5M2, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2FNUZ, Float8E4M3B11FNUZ, Float4E2M1FN} {
		n, step := 1<<(8*d.Size()), 1
		switch d {
		case Float4E2M1FN:
			n = 16
		case BFloat16:
			step = 37
		}
		for i := 0; i < n; i += step {
			x, err := FromBytes(d, []byte{byte(i), byte(i >> 8)}[:d.Size()])
			if err != nil {
				t.Fatal(err)
			}
			v, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			pair, err := FromBytes(d, append(x.Bytes(), x.Bytes()...), 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{x.Text(nil), strings.Fields(strings.Trim(pair.Text(&TextOptions{Precision: 60}), "[]"))[0]} {
				y, err := strconv.ParseFloat(strings.TrimSuffix(s, "."), 32)
				if err != nil || y != v[0] && !(y != y && v[0] != v[0]) {
					t.Errorf("%v: %v is printed as %s, read as %v, %v", d, v[0], s, y, err)
				}
			}
		}
	}
}
