package main

import (
	"strings"
	"testing"
)

// TestFrozenGraphs: every verb that reads takes a GraphDef alone.
func TestFrozenGraphs(t *testing.T) {
	const dir = "../../savedmodel/testdata/graphs/"
	for _, c := range []struct {
		args []string
		code int
		want []string // on stdout, or on stderr if the code isn't 0
	}{
		{[]string{"run", dir + "frozen.pb", "--feed", "who=\"you\"", "--fetch", "hello"}, 0, []string{`{"outputs":{"hello":"you!"}}`}},
		{[]string{"run", dir + "frozen.pb", "--feed", "y=[[1,5,2,4]]", "--fetch", "top:1"}, 0, []string{`{"outputs":{"top:1":[[1,3]]}}`}},
		{[]string{"run", dir + "frozen_text.pbtxt", "--feed", "x=[[1,2,3]]", "--fetch", "small"}, 0, []string{`{"outputs":{}}`}},
		{[]string{"run", dir + "frozen.pb", "--feed", "x=[[1,2,300]]", "--fetch", "small"}, 2, []string{"small"}},
		{[]string{"run", dir + "frozen.pb", "--fetch", "y"}, 2, []string{`placeholder "x"`}},
		{[]string{"run", dir + "frozen.pb"}, 2, []string{"--fetch NAME", "top, top:1, hello"}},
		{[]string{"run", dir + "frozen.pb", "--feed", "x=1"}, 2, []string{"--feed needs --fetch"}},
		{[]string{"run", dir + "frozen.pb", "--fetch", "Y"}, 2, []string{`no node "Y"`}},
		{[]string{"run", models + "module", "--fetch", "StatefulPartitionedCall:9"}, 2, []string{"no output 9"}},
		{[]string{"show", dir + "frozen.pb"}, 0, []string{"frozen.pb  (GraphDef)", "\nFeeds\n", "x      float32 [?,3]", "\nFetches\n", "top:1", "MatMul"}},
		{[]string{"show", dir + "frozen.pb", "--json"}, 0, []string{`"kind":"graphdef"`, `"feeds":[{"name":"x"`}},
		{[]string{"show", dir + "frozen.pb", "--go"}, 2, []string{"is a graph alone"}},
		{[]string{"ls", dir + "frozen.pb"}, 0, []string{"w     ", "float32", "[3,4]"}},
		{[]string{"cat", dir + "frozen_text.pbtxt", "b"}, 0, []string{"0.5"}},
		{[]string{"diff", dir + "frozen.pb", dir + "frozen_text.pbtxt"}, 0, nil},
		{[]string{"scan", dir + "frozen_text.pbtxt"}, 0, []string{"0 high, 0 warning"}},
		{[]string{"scan", dir + "frozen.pb"}, 0, []string{"0 high, 0 warning"}},
		{[]string{"verify", dir + "frozen.pb"}, 0, nil},
		{[]string{"convert", dir + "frozen.pb", "x.pb"}, 2, []string{"a graph alone"}},
	} {
		out, errOut, code := cairn(t, c.args...)
		text := out
		if c.code != 0 {
			text = errOut
		}
		if code != c.code {
			t.Errorf("%q exits with %d, want %d: %s", c.args, code, c.code, errOut)
		}
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%q: got %q, want %q", c.args, text, w)
			}
		}
	}
}
