package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
)

// TestReadmeShowsThisProgram makes sure that the README's program compiles as
// it stands there: it is this one.
func TestReadmeShowsThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "\n```go\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || shown != string(program) {
		t.Errorf("README.md shows\n%s\nexamples/first/main.go is\n%s", shown, program)
	}
}

// TestItGoesOn runs the program in an empty directory and once more.
func TestItGoesOn(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "run1")
	for n := int64(1); n <= 2; n++ {
		if err := run(ctx, dir); err != nil {
			t.Fatalf("run %d: %v", n, err)
		}
		path, err := checkpoint.LatestCheckpoint(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		step, err := checkpoint.Load(ctx, path, "step/.ATTRIBUTES/VARIABLE_VALUE")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tensor.Item[int64](step); err != nil || got != n {
			t.Errorf("after run %d the step is %d (%v)", n, got, err)
		}
	}
}
