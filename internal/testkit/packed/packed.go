// Package packed opens the compressed fixtures in testdata. Tests of many
// packages use it.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Read returns the contents of the gzip file at path. An error ends the test.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}
