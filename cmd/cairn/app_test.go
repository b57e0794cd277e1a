package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/tensor"
)

// cairn runs one command line as a pipe would.
func cairn(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return cairnFrom(t, strings.NewReader(""), args...)
}

// cairnFrom runs it with something on stdin.
func cairnFrom(t *testing.T, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), &app{in: stdin, out: &out, err: &errOut, width: 80}, args)
	return out.String(), errOut.String(), code
}

// helpPage returns all commands' help, as docs/cli shows it.
func helpPage() string {
	var b strings.Builder
	b.WriteString("# The command `cairn`\n\nWritten by the command itself: `go test ./cmd/cairn -run TestHelpPage -rewrite` brings it up to date.\n")
	root := newRoot(&app{})
	list := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, c)
		}
	}
	for _, c := range list {
		var out bytes.Buffer
		c.InitDefaultHelpFlag()
		c.SetOut(&out)
		c.Help()
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(l, " ")
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", c.CommandPath(), strings.Join(lines, "\n"))
	}
	return b.String()
}

func TestHelpPageIsFresh(t *testing.T) {
	const path = "../../docs/cli/README.md"
	page := helpPage()
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.ReplaceAll(string(had), "\r\n", "\n"), page); d != "" {
		t.Errorf("%s is stale (-there +now):\n%s", path, d)
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	for n, line := range strings.Split(helpPage(), "\n") {
		if len([]rune(line)) > 80 && !strings.Contains(line, "brings it up to date") {
			t.Errorf("line %d has %d columns: %s", n+1, len([]rune(line)), line)
		}
	}
}

func TestEveryVerbHasExamplesAndFirstInHelp(t *testing.T) {
	root := newRoot(&app{})
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		if !c.HasExample() || !c.Runnable() {
			t.Errorf("%s has no example", c.Name())
		}
		out, _, code := cairn(t, c.Name(), "--help")
		if code != 0 || strings.Index(out, "Examples:") > strings.Index(out, "Usage:") {
			t.Errorf("%s: code %d; examples don't come first:\n%s", c.Name(), code, out)
		}
	}
}

func TestCatWritesNumpyFiles(t *testing.T) {
	out, _, code := cairn(t, "cat", "--npy", "testdata/tf2.21/slices/s", "w[1:3,0]")
	if code != 0 {
		t.Fatal(code)
	}
	x, err := tensor.ReadNPY(strings.NewReader(out))
	if err != nil || !x.Equal(tensor.Vector[float32](3, 6)) {
		t.Errorf("%v, %v", x, err)
	}
}

func TestCompletionOffersPathsAndNames(t *testing.T) {
	t.Chdir("testdata/tf2.21")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"ls", "gu"}, []string{"guide/"}},
		{[]string{"ls", "guide/"}, []string{"guide/ckpt-1", "guide/ckpt-2"}},
		{[]string{"cat", "guide/ckpt-1", "net/l1/b"}, []string{"net/l1/bias\tfloat32 [5]", "net/l1/bias/.OPTIMIZER_SLOT/optimizer/m\tfloat32 [5]", "net/l1/bias/.OPTIMIZER_SLOT/optimizer/v\tfloat32 [5]"}},
		{[]string{"cat", "gone", "x"}, nil},
		{[]string{"ve"}, []string{"verify\tCheck every checksum and all structure", "version\tSay which build this is"}},
	} {
		out, _, code := cairn(t, append([]string{"__complete"}, c.args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		got := slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, ":") })
		if len(got) == 0 {
			got = nil
		}
		if d := cmp.Diff(c.want, got); code != 0 || d != "" {
			t.Errorf("%v: code %d (-want +got):\n%s", c.args, code, d)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, code := cairn(t, "completion", shell); code != 0 || !strings.Contains(out, "cairn") {
			t.Errorf("%s: code %d", shell, code)
		}
	}
}

func TestColorsOnlyWhereAskedFor(t *testing.T) {
	for _, color := range []bool{false, true} {
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &bytes.Buffer{}, width: 80, color: color}
		if code := run(t.Context(), a, []string{"show", "testdata/tf2.21/guide/ckpt-1"}); code != 0 {
			t.Fatal(code)
		}
		if strings.Contains(out.String(), "\x1b[") != color {
			t.Errorf("color %v: %q", color, out.String()[:80])
		}
	}
}

func TestAnInterruptedVerbSaysSoAndLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	var out, errOut bytes.Buffer
	code := run(ctx, &app{in: strings.NewReader(""), out: &out, err: &errOut, width: 80}, []string{"convert", "testdata/tf2.21/guide", filepath.Join(dir, "x.npz")})
	if code != exitFailed || !strings.Contains(errOut.String(), "interrupted") {
		t.Errorf("code %d: %s", code, errOut.String())
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("left %v, %v", list, err)
	}
}

func TestDemoLearnsStopsAndResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for some seconds")
	}
	dir := t.TempDir()
	out, stderr, code := cairn(t, "demo", "--dir", dir)
	if code != 0 {
		t.Fatal(code, stderr)
	}
	for _, want := range []string{"Nothing to resume from", "Stopped half way", "Resumed from ckpt-4 at step 2000", "slots m, v of 4 variables", "cairn show"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for n, l := range strings.Split(strings.ReplaceAll(out, dir, "/tmp/cairn-demo-1234567890"), "\n") {
		if len([]rune(l)) > 80 && !strings.Contains(l, "cairn diff") {
			t.Errorf("line %d is wider than a terminal: %s", n+1, l)
		}
	}
	again, _, code := cairn(t, "demo", "--dir", dir, "--json")
	var res struct {
		Accuracy float64
		Steps    int
	}
	if err := json.Unmarshal([]byte(again), &res); err != nil || code != 0 {
		t.Fatal(err, code, again)
	}
	if res.Accuracy <= 0.95 {
		t.Errorf("%.1f%% of the held-out digits are right", 100*res.Accuracy)
	}
	if m := regexp.MustCompile(`([0-9.]+)% of the held-out`).FindStringSubmatch(out); m == nil || m[1] != fmt.Sprintf("%.1f", 100*res.Accuracy) {
		t.Errorf("the story says %v, the second run %.1f", m, 100*res.Accuracy)
	}
}

// TestBinaryIsSmall builds the command as releases are built.
func TestBinaryIsSmall(t *testing.T) {
	if testing.Short() || runtime.GOOS == "js" {
		t.Skip("builds the command")
	}
	exe := filepath.Join(t.TempDir(), "cairn.exe")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(exe)
	if err != nil {
		t.Fatal(err)
	}
	// Besides the kernels of 1,200 ops: writers of SavedModels, HDF5, JSON of requests, pictures,
	// and Keras's classes, with which convert makes models and the demo trains one.
	if info.Size() > 39<<20 {
		t.Errorf("the program takes %d MiB", info.Size()>>20)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if out, err := exec.Command(exe, "version").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
