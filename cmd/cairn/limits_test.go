package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

func TestSizesAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1048576": 1 << 20, "512MiB": 512 << 20, "2g": 2 << 30, "1.5 KiB": 1536, "1kb": 1000, "-1": -1, "MiB": -1, "1 mile": -1, "1e300": -1, "99999999TiB": -1} {
		var s size
		if err := s.Set(text); (err != nil) != (want < 0) || err == nil && int64(s) != want {
			t.Errorf("%q: %d, %v; want %d", text, s, err, want)
		}
	}
}

// TestMaxMemoryLetsALargeGraphBeShown checks that a refusal names the flag, and
// that the flag allows the graph.
func TestMaxMemoryLetsALargeGraphBeShown(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "c")
	w, err := bundle.NewWriter(vfs.OSDir(filepath.Dir(prefix)), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	raw := bytes.Repeat([]byte{1<<3 | 2, 0}, 300_000)
	if err := errors.Join(w.Add(t.Context(), tensorfile.GraphKey, tensor.Scalar(string(raw))), w.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, verb := range [][]string{{"show", prefix}, {"verify", prefix}, {"diff", prefix, prefix}} {
		_, stderr, code := cairn(t, verb...)
		if code != exitFailed || !strings.Contains(stderr, "--max-memory raises it") {
			t.Errorf("%v: exit code %d, %q", verb, code, stderr)
		}
		if _, stderr, code := cairn(t, append(verb, "--max-memory", "256MiB")...); code != 0 {
			t.Errorf("%v with the limit raised: exit code %d, %q", verb, code, stderr)
		}
	}
	if _, stderr, code := cairn(t, "ls", prefix, "--max-memory", "much"); code != exitFailed || !strings.Contains(stderr, "2GiB") {
		t.Errorf("no size: exit code %d, %q", code, stderr)
	}
}

// TestOptionsBecomeFlagsThatExist checks that a message which names an option of the
// library names a flag of the command instead.
func TestOptionsBecomeFlagsThatExist(t *testing.T) {
	a := &app{}
	flags := map[string]bool{}
	root := newRoot(a)
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for option, flag := range optionFlags {
		if !flags[flag] {
			t.Errorf("Options.%s becomes --%s, which no command has", option, flag)
		}
		if got := withFlags("x; convert.Options." + option + " helps"); got != "x; --"+flag+" helps" {
			t.Errorf("Options.%s: %q", option, got)
		}
	}
	for _, err := range []error{&convert.GraphsError{}, &convert.ClashError{}, &convert.CastError{}, &convert.SharedError{}} {
		if got := withFlags(err.Error()); strings.Contains(got, "Options") || strings.Contains(got, "Edits") || !strings.Contains(got, "--") {
			t.Errorf("%T: %s", err, got)
		}
	}
}

// TestHintsForProgramsAreLeftOut checks messages with options that no flag sets.
func TestHintsForProgramsAreLeftOut(t *testing.T) {
	for message, want := range map[string]string{
		"load m: there is no op \"X\"\nLoadOptions.Kernels can have more":                        "load m: there is no op \"X\"",
		"the variable \"v\" has no value; LoadOptions.Partial loads the model all the same":      "the variable \"v\" has no value",
		"a: b; run.LoadOptions.NoInit loads it; 2 more":                                          "a: b; 2 more",
		"functions restore it; set RestoreOptions.Run, which runs them, or RestoreOptions.Force": "functions restore it",
		"x exists; Options.Force replaces it":                                                    "x exists; --force replaces it",
		"it was cut off; convert.Recover finishes it":                                            "it was cut off; cairn recover finishes it",
		"no options here: nothing":                                                               "no options here: nothing",
	} {
		if got := withFlags(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
