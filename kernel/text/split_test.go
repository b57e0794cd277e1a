package text

import (
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
)

func TestTextsAreSplitAtSpaces(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int64
		want []string
	}{
		{"", -1, nil}, {" \t", -1, nil}, {"a", -1, []string{"a"}}, {"  a b\t\nc ", -1, []string{"a", "b", "c"}},
		{"a b c", 1, []string{"a", "b c"}}, {" a ", 1, []string{"a", ""}}, {"a  b ", 2, []string{"a", "b", ""}}, {"a b", 5, []string{"a", "b"}},
	} {
		if got := splitSpaces(new(engine.Call), nil, c.in, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q, %d: %q, want %q", c.in, c.most, got, c.want)
		}
	}
}
