package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOrderedIntsSpellings(t *testing.T) {
	// Worked out by hand from the format: 6 bits fit one byte, 13 two.
	for _, c := range []struct {
		v    int64
		want string
	}{
		{0, "\x80"}, {1, "\x81"}, {63, "\xbf"}, {64, "\xc0\x40"}, {-1, "\x7f"}, {-64, "\x40"}, {-65, "\x3f\xbf"},
		{8191, "\xdf\xff"}, {8192, "\xe0\x20\x00"},
		{1 << 62, "\xff\xc0\x40\x00\x00\x00\x00\x00\x00\x00"},
	} {
		got := string(appendOrderedInt(nil, c.v))
		if got != c.want {
			t.Errorf("%d: % x, want % x", c.v, got, c.want)
		}
		if back, rest, ok := readOrderedInt(got + "x"); !ok || back != c.v || rest != "x" {
			t.Errorf("%d: read back %d, %q, %v", c.v, back, rest, ok)
		}
	}
}

func TestSliceKeysRoundTripAndSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		ka, kb := string(appendOrderedInt(nil, a)), string(appendOrderedInt(nil, b))
		if (a < b) != (ka < kb) {
			t.Fatalf("%d and %d sort other than % x and % x", a, b, ka, kb)
		}
		if v, rest, ok := readOrderedInt(ka); !ok || v != a || rest != "" {
			t.Fatalf("%d: read back %d, %q, %v", a, v, rest, ok)
		}
		name := rapid.StringOf(rapid.RuneFrom([]rune{0, 1, 'a', '/', 255, 0x2028})).Draw(t, "name") + rapid.SampledFrom([]string{"", "\xff", "\x00"}).Draw(t, "tail")
		var s Slice
		for range rapid.IntRange(1, 4).Draw(t, "rank") {
			e := Extent{Full: true}
			if rapid.Bool().Draw(t, "part") {
				e = Extent{Start: rapid.Int64Range(0, 1<<40).Draw(t, "start"), Length: rapid.Int64Range(0, 1<<40).Draw(t, "length")}
			}
			s.Extents = append(s.Extents, e)
		}
		key := string(appendSliceKey(nil, name, s))
		gotName, got, err := parseSliceKey(key)
		if err != nil || gotName != name || cmp.Diff(s, got) != "" {
			t.Fatalf("key % x: %q %v, %v", key, gotName, got, err)
		}
	})
}

func FuzzSliceKey(f *testing.F) {
	f.Add(string(appendSliceKey(nil, "v", Slice{[]Extent{{Start: 3, Length: 5}, {Full: true}}})))
	f.Add(string(appendSliceKey(nil, "a\x00\xff", Slice{[]Extent{{Start: 1 << 40, Length: 1 << 33}}})))
	f.Fuzz(func(t *testing.T, key string) {
		name, s, err := parseSliceKey(key)
		if err != nil {
			return
		}
		if again := string(appendSliceKey(nil, name, s)); again != key {
			t.Fatalf("% x was read as %q %v, which is written % x", key, name, s, again)
		}
	})
}

func FuzzParseShapeAndSlice(f *testing.F) {
	f.Add("10 5 0,5:-")
	f.Add("")
	f.Add("3 0,3")
	f.Fuzz(func(t *testing.T, text string) {
		shape, s, err := ParseShapeAndSlice(text)
		if err != nil || text == "" {
			return
		}
		if _, err := s.Shape(shape); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := ParseSlice(s.String()); err != nil || cmp.Diff(again, s) != "" {
			t.Fatalf("%q: written %q, read %v, %v", text, s, again, err)
		}
	})
}

func TestParseSliceRefuses(t *testing.T) {
	for _, text := range []string{":", "1", "1,", "-1,2", "0,0", "0,-1", "a,b", "0,5:", "9223372036854775808,1"} {
		if s, err := ParseSlice(text); err == nil {
			t.Errorf("%q was read as %v", text, s)
		}
	}
	for _, text := range []string{"10 0,11", "10 5 0,5", "x -", "-1 -", "10  -", "0,1", " "} {
		if shape, s, err := ParseShapeAndSlice(text); err == nil {
			t.Errorf("%q was read as %v %v", text, shape, s)
		} else if !strings.Contains(err.Error(), "bundle") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
