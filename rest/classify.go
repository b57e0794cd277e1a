package rest

import (
	"fmt"
	"io"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// The names and shapes are those of TensorFlow Serving (classifier.cc, regressor.cc), and its JSON
// (json_tensor.cc). They must stay.

// Class is a label of a classification and its score.
type Class struct {
	Label string // empty if the model has no labels
	Score float32
}

// The names of tensors in the signatures of classify and regress.
const (
	classesOutput = "classes"
	scoresOutput  = "scores"
	regressOutput = "outputs"
)

// Classes returns the classes of each example, from the outputs of a signature
// for classify: "classes", "scores" or both, with the shape [examples, classes].
func Classes(outputs map[string]*tensor.Tensor, examples int) ([][]Class, error) {
	labels, scores := outputs[classesOutput], outputs[scoresOutput]
	if labels == nil && scores == nil {
		return nil, fmt.Errorf("classify: the signature has neither an output %q nor %q", classesOutput, scoresOutput)
	}
	n := -1
	for _, x := range []struct {
		name  string
		t     *tensor.Tensor
		dtype tensor.DType
	}{{classesOutput, labels, tensor.String}, {scoresOutput, scores, tensor.Float32}} {
		switch {
		case x.t == nil:
		case x.t.DType() != x.dtype:
			return nil, fmt.Errorf("classify: the output %q has type %v (want %v)", x.name, x.t.DType(), x.dtype)
		case x.t.Rank() != 2 || x.t.Shape()[0] != examples || n >= 0 && n != x.t.Shape()[1]:
			return nil, fmt.Errorf("classify: the output %q has shape %v for %d examples (want [examples,classes])", x.name, x.t.Shape(), examples)
		default:
			n = x.t.Shape()[1]
		}
	}
	out := make([][]Class, examples)
	for i := range out {
		out[i] = make([]Class, n)
		for j := range out[i] {
			if labels != nil {
				out[i][j].Label = labels.Strings()[i*n+j]
			}
			if scores != nil {
				out[i][j].Score = tensor.Values[float32](scores)[i*n+j]
			}
		}
	}
	return out, nil
}

// Regressions returns the value of each example, from the outputs of a signature
// for regress: "outputs", with the shape [examples] or [examples, 1].
func Regressions(outputs map[string]*tensor.Tensor, examples int) ([]float32, error) {
	t := outputs[regressOutput]
	switch {
	case t == nil:
		return nil, fmt.Errorf("regress: the signature has no output %q", regressOutput)
	case t.DType() != tensor.Float32:
		return nil, fmt.Errorf("regress: the output %q has type %v (want float32)", regressOutput, t.DType())
	case t.Len() != examples || t.Rank() == 0 || t.Rank() > 2 || t.Shape()[0] != examples:
		return nil, fmt.Errorf("regress: the output %q has shape %v for %d examples (want [examples] or [examples,1])", regressOutput, t.Shape(), examples)
	}
	return tensor.Values[float32](t), nil
}

// resultsField is the field of a response to classify or regress.
const resultsField = "results"

// WriteClassifyResponse writes the classes of each example.
func WriteClassifyResponse(w io.Writer, classes [][]Class, opts *WriteOptions) error {
	out := newWriter(w, opts)
	out.raw("{")
	out.key(resultsField)
	out.raw("[")
	for i, list := range classes {
		if i > 0 {
			out.raw(",")
		}
		out.raw("[")
		for j, c := range list {
			if j > 0 {
				out.raw(",")
			}
			out.raw("[")
			out.b = appendString(out.b, c.Label, false)
			out.raw(",")
			out.b = appendFloat(out.b, float64(c.Score), 32, out.quote)
			out.raw("]")
			out.flush(flushAt)
		}
		out.raw("]")
	}
	out.raw("]}")
	return out.end()
}

// WriteRegressResponse writes the value of each example.
func WriteRegressResponse(w io.Writer, values []float32, opts *WriteOptions) error {
	out := newWriter(w, opts)
	out.raw("{")
	out.key(resultsField)
	out.raw("[")
	for i, v := range values {
		if i > 0 {
			out.raw(",")
		}
		out.b = appendFloat(out.b, float64(v), 32, out.quote)
		out.flush(flushAt)
	}
	out.raw("]}")
	return out.end()
}

// readResults reads a response to classify or regress.
func readResults(r io.Reader, element func(s *scanner) *Error, opts *ReadOptions) error {
	b, at, err := readResponse(r, []string{resultsField}, opts)
	if err != nil {
		return err
	}
	p, ok := at[resultsField]
	if !ok {
		return fault(0, "a response holds %q", resultsField)
	}
	s := &scanner{b, p}
	if s.next() != '[' {
		return fault(p, "got %s (want a list)", s.value()).below(resultsField)
	}
	return asError(s.list(func(i int) *Error { return element(s).under(i) }).below(resultsField))
}

// ReadClassifyResponse reads a response to a classify request: the classes of
// each example. Errors are those of [ReadPredictResponse].
func ReadClassifyResponse(r io.Reader, opts *ReadOptions) ([][]Class, error) {
	var out [][]Class
	err := readResults(r, func(s *scanner) *Error {
		list := []Class{}
		if s.next() != '[' {
			return fault(s.at, "got %s (want a list of classes)", s.value())
		}
		err := s.list(func(i int) *Error {
			c, err := readClass(s)
			list = append(list, c)
			return err.under(i)
		})
		out = append(out, list)
		return err
	}, opts)
	return out, err
}

// readClass reads [label, score].
func readClass(s *scanner) (c Class, err *Error) {
	begin, n := s.at, 0
	if s.next() != '[' {
		return c, fault(begin, "got %s (want [label, score])", s.value())
	}
	err = s.list(func(i int) (err *Error) {
		switch n++; i {
		case 0:
			c.Label, err = readString(s)
		case 1:
			c.Score, err = readFloat32(s, tensor.Float32)
		}
		return err.under(i)
	})
	if err == nil && n != 2 {
		err = fault(begin, "got a list of %d (want [label, score])", n)
	}
	return c, err
}

// ReadRegressResponse reads a response to a regress request: the value of each
// example. Errors are those of [ReadPredictResponse].
func ReadRegressResponse(r io.Reader, opts *ReadOptions) ([]float32, error) {
	var out []float32
	err := readResults(r, func(s *scanner) *Error {
		v, err := readFloat32(s, tensor.Float32)
		out = append(out, v)
		return err
	}, opts)
	return out, err
}

// WriteExamplesRequest writes a request of classify or regress. Floats have a
// point or an exponent, so that they are read as floats again; a feature whose
// lists are all empty is an empty list.
func WriteExamplesRequest(w io.Writer, signature string, context Example, examples []Example, opts *WriteOptions) error {
	out := newWriter(w, opts)
	out.quote = false // a string would be read as bytes
	out.raw("{")
	if signature != "" {
		out.key("signature_name")
		out.text(signature)
		out.raw(",")
	}
	if context != nil {
		out.key("context")
		out.example(context)
		out.raw(",")
	}
	out.key(Examples.String())
	out.raw("[")
	for i, e := range examples {
		if i > 0 {
			out.raw(",")
		}
		out.example(e)
	}
	out.raw("]}")
	return out.end()
}

// example writes an example as an object whose features are lists.
func (w *writer) example(e Example) {
	w.raw("{")
	for i := range e {
		f := &e[i]
		if i > 0 {
			w.raw(",")
		}
		w.key(f.Name)
		w.raw("[")
		n := 0
		comma := func() {
			if n++; n > 1 {
				w.raw(",")
			}
		}
		for _, v := range f.Bytes {
			comma()
			w.b = appendString(w.b, v, false)
		}
		for _, v := range f.Floats {
			comma()
			w.b = appendFloat(w.b, float64(v), 32, false)
		}
		for _, v := range f.Ints {
			comma()
			w.raw(fmt.Sprint(v))
		}
		w.raw("]")
		w.flush(flushAt)
	}
	w.raw("}")
}

// toUTF8 replaces bytes that are no UTF-8.
func toUTF8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
