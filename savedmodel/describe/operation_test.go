package describe_test

import (
	"bytes"
	"go/format"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/describe"
)

// TestOutputsThatAreOperationsAreMarked: a call has no value for them, so that Go types
// have no field for them.
func TestOutputsThatAreOperationsAreMarked(t *testing.T) {
	dir := os.DirFS("../testdata/models/tf1_no_init")
	m, err := savedmodel.Read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := describe.Describe(t.Context(), dir, m, kernel.All())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := d.Text(&text, &describe.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "out  train_op  operation"; !strings.Contains(text.String(), want) {
		t.Errorf("the text lacks %q:\n%s", want, text.String())
	}
	src, err := d.MetaGraphs[0].GoTypes("model")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := format.Source(src); err != nil {
		t.Error(err)
	}
	if strings.Contains(string(src), "TrainOp") {
		t.Errorf("the types have a field of an operation:\n%s", src)
	}
}
