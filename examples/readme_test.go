// Package examples_test runs the README's programs as they stand there.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

var program = regexp.MustCompile("(?s)\n```go\n(package main\n.*?)```\n")

// TestReadmesProgramsRun takes each program from the README's text, which has to
// be that of an example, builds it and runs it in an empty directory, then once
// more.
func TestReadmesProgramsRun(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
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
