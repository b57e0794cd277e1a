package zipfile_test

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/cairnml/cairn/internal/zipfile"
)

func TestErrorsTellWhatTheFileIs(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a")
	if err == nil {
		_, err = w.Write([]byte("text"))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, bytes, err string
	}{
		{"whole", b.String(), ""},
		{"cut", b.String()[:b.Len()/2], "the end of the zip archive is missing: the file is cut off or damaged"},
		{"another file", "hello, this is no archive", "it does not begin as a zip archive"},
		{"short", "PK", "it does not begin as a zip archive"},
	} {
		z, err := zipfile.Open(bytes.NewReader([]byte(c.bytes)), int64(len(c.bytes)))
		if err == nil && (c.err != "" || len(z.File) != 1) || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}
