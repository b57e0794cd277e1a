package tensorfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsStandForFiles checks the files that Open and FindModel find for paths of the
// operating system and of a file system.
func TestPathsStandForFiles(t *testing.T) {
	dir := t.TempDir()
	copyDir := func(name, from string) {
		t.Helper()
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	copyDir("server/2", fixtures+"saved_model")
	copyDir("server/10", "../inspect/testdata/tf2.21/base")
	copyDir("lone", fixtures+"guide")
	copyDir("two", fixtures+"guide")
	for _, name := range []string{"lone/checkpoint", "two/checkpoint", "lone/ckpt-1.index"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"page.index.html": "<!DOCTYPE html><html>", "weights": "<html><body>", "m.tflite": "TFL3", "renamed": "\x1c\x00\x00\x00TFL3\x00\x00",
		"m.onnx": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"server":                   "server/10/variables/variables",
		"server/2":                 "server/2/variables/variables",
		"server/10/saved_model.pb": "server/10/variables/variables",
		"lone":                     "lone/ckpt-2",
	} {
		for _, o := range []*Options{{}, {FS: os.DirFS(dir)}} {
			full := path
			if o.FS == nil {
				full, want = filepath.Join(dir, path), filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(filepath.ToSlash(want), filepath.ToSlash(dir)+"/")))
			} else {
				want = strings.TrimPrefix(filepath.ToSlash(want), filepath.ToSlash(dir)+"/")
			}
			s, err := Open(t.Context(), full, o)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if s.Prefix != want || s.Found == "" {
				t.Errorf("%s is %s (%s), want %s", path, s.Prefix, s.Found, want)
			}
			s.Close()
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "two"), nil); err == nil || !strings.Contains(err.Error(), "two/ckpt-1") || !strings.Contains(err.Error(), "two/ckpt-2") {
		t.Errorf("two checkpoints: %v", err)
	}
	for name, kind := range map[string]string{
		"page.index.html": "HTML page", "weights": "HTML page", "m.tflite": "TensorFlow Lite", "renamed": "TensorFlow Lite",
		"m.onnx": "ONNX",
	} {
		_, err := Open(t.Context(), filepath.Join(dir, name), nil)
		var foreign *ForeignError
		if !errors.As(err, &foreign) || !strings.Contains(foreign.Kind, kind) || foreign.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, want := range map[string]string{"server": "server/10", "server/2": "server/2", "server/2/saved_model.pb": "server/2", "lone": "", "none": ""} {
		if got, ok := FindModel(os.DirFS(dir), path); got != want || ok != (want != "") {
			t.Errorf("%s is the model %q, want %q", path, got, want)
		}
	}
}

// TestShardsOfSafetensorsAreOneFile opens an index as Hugging Face's tools write it.
func TestShardsOfSafetensorsAreOneFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, header, data string) {
		t.Helper()
		b := fmt.Sprintf("%c\x00\x00\x00\x00\x00\x00\x00%s%s", rune(len(header)), header, data)
		if err := os.WriteFile(file(name), []byte(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.safetensors", `{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "\x01\x02")
	write("b.safetensors", `{"y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "\x03")
	index := func(text string) string {
		t.Helper()
		if err := os.WriteFile(file("m.safetensors.index.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file("m.safetensors.index.json")
	}
	path := index(`{"metadata": {"total_size": 3}, "weight_map": {"y": "b.safetensors", "x": "a.safetensors"}}`)
	for _, o := range []*Options{nil, {FS: os.DirFS(dir)}} {
		p := path
		if o != nil {
			p = filepath.Base(path)
		}
		s, err := Open(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if names := fmt.Sprint(s.Names()); names != "[x y]" {
			t.Error(names)
		}
		if x, err := s.Read(t.Context(), "y"); err != nil || x.Bytes()[0] != 3 {
			t.Error(x, err)
		}
		if o == nil {
			var overwrite *OverwriteError
			if err := s.Protect(file("b.safetensors")); !errors.As(err, &overwrite) {
				t.Errorf("a shard may be overwritten: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		`{"weight_map": {"z": "a.safetensors"}}`:    `a.safetensors: it lacks the tensor "z"`,
		`{"weight_map": {"x": "c.safetensors"}}`:    "c.safetensors",
		`{"weight_map": {"x": "../a.safetensors"}}`: "outside of its directory",
		`{}`: "no weight_map",
		`[`:  "its JSON is broken at byte 1",
	} {
		if _, err := Open(t.Context(), index(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
