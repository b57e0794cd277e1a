//go:build !windows && !js && !wasip1 && !plan9

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLongOutputGoesToThePager(t *testing.T) {
	for _, c := range []struct {
		name, command, verb string
		lines               int
		off                 bool
		want                string // the first line of the terminal
	}{
		{"long", "sed 's/^/paged /'", "show", 30, false, "paged line 0"},
		{"short", "sed 's/^/paged /'", "show", 5, false, "line 0"},
		{"no pager", "", "show", 30, false, "line 0"},
		{"--no-pager", "sed 's/^/paged /'", "show", 30, true, "line 0"},
		{"another verb", "sed 's/^/paged /'", "convert", 30, false, "line 0"},
		{"a user who leaves", "head -1", "ls", 100_000, false, "line 0"},
		{"a pager that fails", "exit 1", "ls", 30, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			p := &pager{out: out, rows: 10, command: c.command}
			p.choose(c.verb, c.off)
			var stderr bytes.Buffer
			notes := p.stderr(&stderr)
			failed := error(nil)
			for i := 0; i < c.lines && failed == nil; i++ {
				_, failed = fmt.Fprintf(p, "line %d\n", i)
			}
			fmt.Fprint(notes, "a note")
			if err := p.close(&stderr); err != nil {
				t.Error(err)
			}
			if stderr.String() != "a note" {
				t.Errorf("stderr has %q, want the note", stderr.String())
			}
			got, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(got), "\n")
			if first != c.want {
				t.Errorf("the terminal begins with %q, want %q", first, c.want)
			}
			if failed == nil && c.want != "" && strings.Count(string(got), "\n") != c.lines {
				t.Errorf("the terminal has %d lines, want %d", strings.Count(string(got), "\n"), c.lines)
			}
		})
	}
}

func TestTheUserChoosesThePager(t *testing.T) {
	for _, c := range []struct{ own, pager, want string }{
		{"most", "less", "most"}, {"", "less", ""}, {"cat", "less", ""}, {"less -S", "", "less -S"},
	} {
		t.Setenv("CAIRN_PAGER", c.own)
		t.Setenv("PAGER", c.pager)
		if got := pagerCommand(); got != c.want {
			t.Errorf("CAIRN_PAGER=%q PAGER=%q: got %q, want %q", c.own, c.pager, got, c.want)
		}
	}
}
