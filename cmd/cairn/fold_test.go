package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// writeNames writes a .npz of tensors with the names, whose shapes depend on the
// names' last part.
func writeNames(t *testing.T, names []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.npz")
	f, err := tensorfile.CreateFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	w := tensor.NewNPZWriter(f, nil)
	for _, n := range names {
		if err := w.Add(n, tensor.Vector(make([]float32, len(n[strings.LastIndex(n, "/")+1:]))...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLongListsAreFoldedOnATerminal(t *testing.T) {
	var names []string
	for layer := range 12 {
		for expert := range 3 {
			names = append(names, fmt.Sprintf("layers/%d/experts/%d/w", layer, expert))
		}
		if layer != 5 {
			names = append(names, fmt.Sprintf("layers/%d/bias", layer))
		}
	}
	names = append(names, "stage1/a", "stage2/a", "stage3/abc", "w07", "w7")
	path := writeNames(t, names)
	list := func(tty bool, args ...string) []string {
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &bytes.Buffer{}, width: 80, outTTY: tty}
		if code := run(context.Background(), a, append([]string{"ls", path}, args...)); code != 0 {
			t.Fatal(code, a.err)
		}
		var first []string
		for l := range strings.Lines(out.String()) {
			first = append(first, strings.Fields(l)[0])
		}
		return first[1 : len(first)-1]
	}
	got := list(true)
	want := []string{"layers/{0…4,6…11}/bias", "layers/{0…11}/experts/{0…2}/w", "stage1/a", "stage2/a", "stage3/abc", "w07", "w7"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, each := range [][]string{list(false), list(true, "--all")} {
		if len(each) != len(names) {
			t.Errorf("%d lines of %d tensors", len(each), len(names))
		}
		at := strings.Join(each, " ")
		if strings.Index(at, "layers/2/") > strings.Index(at, "layers/10/") {
			t.Errorf("layers/10 precedes layers/2: %v", each)
		}
	}
}

func TestNumberRange(t *testing.T) {
	for want, values := range map[string][]string{
		"0…95":                 nil,
		"1,3,8":                {"1", "3", "8"},
		"1,2":                  {"1", "2"},
		"08…10,7":              {"08", "09", "10", "7"},
		"9…11":                 {"9", "10", "11"},
		"99999999999999999999": {"99999999999999999999"},
	} {
		if values == nil {
			for i := range 96 {
				values = append(values, fmt.Sprint(i))
			}
		}
		if got := numberRange(values); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}

func TestCompletionNeedsNoOtherPackage(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("Windows has no bash of its own")
		}
		t.Fatal(err)
	}
	var script bytes.Buffer
	if code := run(context.Background(), &app{in: strings.NewReader(""), out: &script, err: &bytes.Buffer{}, width: 80}, []string{"completion", "bash"}); code != 0 {
		t.Fatal(code)
	}
	for _, test := range []struct{ line, words, want string }{
		{"cairn ls mod", "cairn ls mod", "2 mod ls : cairn|ls|mod|"},
		{"cairn ls ", "cairn ls ''", "2  ls : cairn|ls||"},
		{"cairn show m --signature=ser", "cairn show m --signature = ser", "3 --signature=ser m : cairn|show|m|--signature=ser|"},
		{"cairn show m --signature=", "cairn show m --signature = ''", "3 --signature= m : cairn|show|m|--signature=|"},
		{"cairn cat a:b c", "cairn cat a : b c", "3 c a:b : cairn|cat|a:b|c|"},
	} {
		code := script.String() + `
COMP_LINE='` + test.line + `'; COMP_WORDS=(` + test.words + `); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMP_POINT=${#COMP_LINE}
__cairn_words
printf '%s %s %s : ' "$cword" "$cur" "$prev"; printf '%s|' "${words[@]}"`
		out, err := exec.Command(bash, "--norc", "--noprofile", "-c", code).CombinedOutput()
		if err != nil || string(out) != test.want {
			t.Errorf("%q: %v: got %q, want %q", test.line, err, out, test.want)
		}
	}
}
