package main

import (
	"strings"
	"testing"
)

// TestFlagsValuesAreCompleted asks as shells do.
func TestFlagsValuesAreCompleted(t *testing.T) {
	for want, args := range map[string][]string{
		"serving_default": {"run", models + "module", "--signature", ""},
		"look":            {"show", "../../inspect/testdata/tf2.21/base", "--signature", ""},
		"warning":         {"scan", "x", "--fail-on", ""},
	} {
		if out, stderr, _ := cairn(t, append([]string{"__complete"}, args...)...); !strings.Contains(out, want+"\n") {
			t.Errorf("%v: no %q\n%s%s", args, want, out, stderr)
		}
	}
}

// TestSynonymsLeadToCommands checks that each is a command's, and no command itself.
func TestSynonymsLeadToCommands(t *testing.T) {
	names := map[string]bool{}
	for _, c := range newRoot(&app{}).Commands() {
		names[c.Name()] = true
	}
	for word, name := range synonyms {
		if !names[name] || names[word] {
			t.Errorf("%s leads to %s", word, name)
		}
		if _, stderr, code := cairn(t, word, "x"); code != exitFailed || !strings.Contains(stderr, "did you mean "+name+"?") {
			t.Errorf("%s: %d %s", word, code, stderr)
		}
	}
}

// TestTheDemoNamesACommandThatCanBePasted checks a program that go run built.
func TestTheDemoNamesACommandThatCanBePasted(t *testing.T) {
	for path, want := range map[string]string{"/tmp/go-build123/b001/exe/cairn": "go run ./cmd/cairn", "/usr/bin/cairn": "cairn"} {
		if got := commandName(path, nil); got != want {
			t.Errorf("%s is called by %q, want %q", path, got, want)
		}
	}
}
