package savedmodel_test

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// TestOpsThatArePythonCodeAreToldFromThoseWithoutAKernel: no file holds what
// tf.py_function calls, so nothing but a kernel of the caller's can run it.
func TestOpsThatArePythonCodeAreToldFromThoseWithoutAKernel(t *testing.T) {
	missing := func(op string) savedmodel.MissingOp {
		return savedmodel.MissingOp{Op: op, Def: graph.LookupOp(op), Count: 1, Uses: []string{"signature serving_default: " + op}}
	}
	for _, op := range []string{"PyFunc", "PyFuncStateless", "EagerPyFunc"} {
		err := &savedmodel.UnsupportedError{Ops: []savedmodel.MissingOp{missing(op)}}
		if !strings.Contains(err.Error(), "Python code") {
			t.Error(err)
		}
	}
	if err := (&savedmodel.UnsupportedError{Ops: []savedmodel.MissingOp{missing("CudnnRNN")}}); strings.Contains(err.Error(), "Python") {
		t.Error(err)
	}
}
