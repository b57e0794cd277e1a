package hdf5_test

import (
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

var exampleLine = regexp.MustCompile(`(?m)^//\t([0-9a-f]{3})  ((?:[0-9a-f]{2} ?)+) `)

func TestExampleOfThePackagePageIsWhatIsWritten(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var w hdf5.Writer
	if _, err := w.Root().Dataset("x", tensor.Vector[int32](1, 2), nil); err != nil {
		t.Fatal(err)
	}
	b := write(t, &w)
	lines := exampleLine.FindAllStringSubmatch(string(text), -1)
	if len(lines) < 40 || len(b) != 1184 {
		t.Fatalf("%d lines, %d bytes", len(lines), len(b))
	}
	for _, l := range lines {
		at, err := strconv.ParseInt(l[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.TrimSpace(l[2]), " ", "")
		if got := hex.EncodeToString(b[at : at+int64(len(want)/2)]); got != want {
			t.Errorf("at %s: %s, the page has %s", l[1], got, want)
		}
		clear(b[at : at+int64(len(want)/2)])
	}
	for at, c := range b {
		if c != 0 {
			t.Errorf("at %x: %x is not on the page", at, c)
		}
	}
}
