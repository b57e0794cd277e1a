// Package examples_test runs the README's programs unchanged.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var program = regexp.MustCompile("(?s)\n```go\n(package main\n.*?)```\n")

// TestReadmesProgramsRun checks that each program in the README is that of an
// example, builds it, and runs it twice in an empty directory.
func TestReadmesProgramsRun(t *testing.T) {
	goTool, readme := toolAndReadme(t)
	examples := []struct{ name, first, second string }{
		{"first", `^step 1 in run1/ckpt-1 <nil>\n$`, `^step 2 in run1/ckpt-2 <nil>\n$`},
		{
			"train", `^step 10: loss \d\.\d{4}, run2/ckpt-1\n(.*\n){2}$`,
			`^step 40: loss 0\.\d{4}, run2/ckpt-4\nstep 50: loss 0\.0\d{3}, run2/ckpt-5\nstep 60: loss 0\.0\d{3}, run2/ckpt-6\n$`,
		},
	}
	shown := program.FindAllSubmatch(readme, -1)
	if len(shown) != len(examples) {
		t.Fatalf("README.md shows %d programs, want %d", len(shown), len(examples))
	}
	for i, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			text := shown[i][1]
			file, err := os.ReadFile(filepath.Join(e.name, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			if string(file) != string(text) {
				t.Errorf("README.md shows\n%s\nexamples/%s/main.go is\n%s", text, e.name, file)
			}
			exe := build(t, goTool, text)
			place := t.TempDir()
			for n, want := range []string{e.first, e.second} {
				run := exec.Command(exe)
				run.Dir = place
				out, err := run.CombinedOutput()
				if err != nil || !regexp.MustCompile(want).MatchString(filepath.ToSlash(string(out))) {
					t.Errorf("run %d: %v\n%s", n+1, err, out)
				}
			}
		})
	}
}

// toolAndReadme returns the path of the go tool and the README's text. It skips the
// test if there is no go tool, as on a machine that only runs the tests' binaries.
func toolAndReadme(t *testing.T) (goTool string, readme []byte) {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	if readme, err = os.ReadFile(filepath.Join("..", "README.md")); err != nil {
		t.Fatal(err)
	}
	return goTool, readme
}

// build builds a program and returns its path.
func build(t *testing.T, goTool string, text []byte) string {
	t.Helper()
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	if err := os.WriteFile(src, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(goTool, "build", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

var snippet = regexp.MustCompile("(?s)\n```go\n(.*?)```\n")

// TestReadmesLinesRun completes the lines that the README shows outside of its
// programs, replacing "...", to a program, and runs that in a directory with a model.
func TestReadmesLinesRun(t *testing.T) {
	goTool, readme := toolAndReadme(t)
	var shown []string
	for _, s := range snippet.FindAllSubmatch(readme, -1) {
		if text := string(s[1]); !strings.HasPrefix(text, "package ") {
			shown = append(shown, text)
		}
	}
	if len(shown) != 1 || strings.Count(shown[0], "\n...\n") != 1 {
		t.Fatalf("README.md shows %q, want the lines that run a SavedModel", shown)
	}
	exe := build(t, goTool, []byte(`package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/tensor"
)

func main() {
	ctx := context.Background()
	`+strings.Replace(shown[0], "\n...\n", `
	if err != nil {
		log.Fatal(err)
	}
	x, err := tensor.New([]float32{1, 2, 3}, 1, 3)
	if err != nil {
		log.Fatal(err)
	}
`, 1)+`
	fmt.Println(out["y"], err)
}
`))
	run := exec.Command(exe)
	run.Dir = t.TempDir()
	if err := os.CopyFS(filepath.Join(run.Dir, "model"), os.DirFS(filepath.Join("..", "savedmodel", "testdata", "models", "module"))); err != nil {
		t.Fatal(err)
	}
	if out, err := run.CombinedOutput(); err != nil || string(out) != "[[11. 42. 93.]] <nil>\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
