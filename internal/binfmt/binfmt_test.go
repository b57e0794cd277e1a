package binfmt

import (
	"strings"
	"testing"
)

func TestPrinter(t *testing.T) {
	var b strings.Builder
	p := New(&b, []byte("abcdefghijklmnopqrstuvwxyz"), 16)
	p.Line("letters")
	p.In()
	p.Field(1, "first %q", 'a')
	p.Field(20, "many")
	p.Out()
	p.Field(99, "rest")
	const want = `                                               letters
00000010  61                                     first 'a'
00000011  62 63 64 65 66 67 68 69 6a ... 74 75    many
00000025  76 77 78 79 7a                       rest
`
	got := b.String()
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || p.Err() != nil || len(p.Rest()) != 0 {
		t.Errorf("got\n%s", got)
	}
}
