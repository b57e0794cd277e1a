package render

import (
	"strings"
	"testing"
)

func TestWrapBreaksAtBlanks(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"short", "short"}, {"one two three", "one two|three"}, {"muchlongerthanthat", "muchlongerthanthat"},
		{"a muchlongerthanthat b", "a|muchlongerthanthat|b"}, {"ab  cd  ef gh ij", "ab  cd|ef gh|ij"}, {"日本 日本 日本", "日本|日本|日本"},
	} {
		if got := strings.Join(Wrap(c.in, 8), "|"); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}
