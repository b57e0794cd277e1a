package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	keys := []string{
		"net/l1/bias", "net/l1/kernel", "net/l2/kernel", "optimizer/beta_1", "optimizer/learning_rate", "save_counter", "step",
	}
	for _, c := range []struct{ ask, want string }{
		{"net/l1/kernal", "net/l1/kernel"},
		{"kernel", "net/l1/kernel"},
		{"l2/kernel", "net/l2/kernel"},
		{"modl/kernel", "net/l1/kernel"}, // the last part is right
		{"STEP", "step"},
		{"optimiser/learning_rate", "optimizer/learning_rate"},
		{"optimizer/bate_1", "optimizer/beta_1"},
		{"net/layer_with_weights-0/bias", "net/l1/bias"},
	} {
		if got := Names(c.ask, keys, 3); len(got) == 0 || got[0] != c.want {
			t.Errorf("Names(%q) = %q, want %q first", c.ask, got, c.want)
		}
	}
	if got := Names("zzzzzzzzzzzz", keys, 3); len(got) != 0 {
		t.Errorf("nothing is like zzzzzzzzzzzz, got %q", got)
	}
	if got := Names("kernel", keys, 1); len(got) != 1 {
		t.Errorf("asked for one name, got %q", got)
	}
}

// A file's names can be many and long; finding similar ones stays cheap.
func TestNamesIsBounded(t *testing.T) {
	names := slices.Repeat([]string{strings.Repeat("a/", 1<<12) + "x"}, 1<<12)
	if got := Names(strings.Repeat("b", 1<<20), names, 3); len(got) != 0 {
		t.Errorf("got %d names", len(got))
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"a", "zzzzzzzzzzzzz", 5}} {
		if got := Distance(c.a, c.b, 4); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
