package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestVerbs runs the command lines in testdata/*.txt in a copy of the fixtures and compares their
// output. `go test ./cmd/cairn -rewrite` writes the files anew. The SavedModels of package
// savedmodel's tests are in the directory models.
//
// Each case is "run", command lines, "----", output. Besides cairn's verbs a line may be: cmp A
// B; files DIR; flip FILE OFFSET; cut FILE BYTES; rm FILE; mv FILE NAME; write FILE TEXT; sh-like
// ">" sends stdout to a file.
func TestVerbs(t *testing.T) {
	fixtures, err := filepath.Abs("testdata/tf2.21")
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := filepath.Abs("testdata/hostile")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(fixtures)); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, "hostile"), os.DirFS(hostile)); err != nil {
				t.Fatal(err)
			}
			for _, m := range []string{"hub", "keras_mlp", "module", "random_paths", "table", "tf1_graphs", "tf1_init", "tf1_sparse"} {
				if err := os.CopyFS(filepath.Join(dir, "models", m), os.DirFS(models+m)); err != nil {
					t.Fatal(err)
				}
			}
			for to, from := range map[string]string{"graphs": "../../savedmodel/testdata/graphs", "keras": "../../savedmodel/scan/testdata/tf2.21"} {
				if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			datadriven.RunTest(t, abs, func(t *testing.T, d *datadriven.TestData) string {
				var out strings.Builder
				for line := range strings.Lines(d.Input) {
					runLine(t, &out, strings.TrimSpace(line))
				}
				return out.String()
			})
		})
	}
}

func runLine(t *testing.T, out *strings.Builder, line string) {
	t.Helper()
	args := split(line)
	to := ""
	if n := len(args); n > 2 && args[n-2] == ">" {
		to, args = args[n-1], args[:n-2]
	}
	if len(args) == 0 {
		return
	}
	if helper, ok := helpers[args[0]]; ok {
		fmt.Fprintln(out, helper(t, args[1:]))
		return
	}
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), &app{in: strings.NewReader(""), out: &stdout, err: &stderr, width: 80}, args)
	if to != "" {
		if err := os.WriteFile(to, stdout.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		stdout.Reset()
	}
	out.WriteString(stdout.String())
	for l := range strings.Lines(stderr.String()) {
		out.WriteString("stderr| " + l)
	}
	if code != 0 {
		fmt.Fprintf(out, "exit %d\n", code)
	}
}

var helpers = map[string]func(t *testing.T, args []string) string{
	"cmp": func(t *testing.T, args []string) string {
		a, errA := os.ReadFile(args[0])
		b, errB := os.ReadFile(args[1])
		switch {
		case errA != nil:
			return errA.Error()
		case errB != nil:
			return errB.Error()
		case bytes.Equal(a, b):
			return "the same bytes"
		}
		return "other bytes"
	},
	"files": func(t *testing.T, args []string) string {
		var all []string
		filepath.WalkDir(args[0], func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, filepath.ToSlash(p))
			}
			return nil
		})
		sort.Strings(all)
		return strings.Join(all, "\n")
	},
	"flip": func(t *testing.T, args []string) string {
		return change(t, args, func(b []byte, n int) []byte { b[n] ^= 0x10; return b })
	},
	"cut": func(t *testing.T, args []string) string {
		return change(t, args, func(b []byte, n int) []byte { return b[:n] })
	},
	"mv": func(t *testing.T, args []string) string {
		if err := os.Rename(args[0], args[1]); err != nil {
			t.Fatal(err)
		}
		return "renamed"
	},
	"rm": func(t *testing.T, args []string) string {
		if err := os.Remove(args[0]); err != nil {
			t.Fatal(err)
		}
		return "removed"
	},
	"write": func(t *testing.T, args []string) string {
		if err := os.WriteFile(args[0], []byte(args[1]), 0o666); err != nil {
			t.Fatal(err)
		}
		return "written"
	},
}

func change(t *testing.T, args []string, f func([]byte, int) []byte) string {
	t.Helper()
	b, err := os.ReadFile(args[0])
	if err != nil {
		t.Fatal(err)
	}
	var n int
	fmt.Sscan(args[1], &n)
	if err := os.WriteFile(args[0], f(b, n), 0o666); err != nil {
		t.Fatal(err)
	}
	return "changed"
}

// split parts a line at blanks; single quotes keep them.
func split(line string) []string {
	var args []string
	var b strings.Builder
	quoted, any := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				args = append(args, b.String())
			}
			b.Reset()
			any = false
		default:
			b.WriteRune(r)
			any = true
		}
	}
	if any {
		args = append(args, b.String())
	}
	return args
}
