package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// The JSON in this file is that of TensorFlow Serving's REST API and must stay, as must the names
// of the fields that run --json adds.

// Answer is the result of a signature, and the form in which the caller asked. The verb run
// writes it.
type Answer struct {
	Outputs map[string]*tensor.Tensor
	// Form is the form of the answer.
	Form rest.Form
	// Named means that a single output is written with its name.
	Named bool
	// Signature describes the signature; classify and regress have special forms of
	// answers to examples.
	Signature *savedmodel.SignatureDef
	// Examples is the number of examples of a request of that form.
	Examples int
}

// The methods of signatures whose answers have special forms.
const (
	classifyMethod = "tensorflow/serving/classify"
	regressMethod  = "tensorflow/serving/regress"
)

// WriteJSON writes the answer as TensorFlow Serving does: NaN and Infinity bare, or
// as strings with standard.
func (a *Answer) WriteJSON(w io.Writer, standard bool) error {
	opts := &rest.WriteOptions{Quote: standard, Names: a.Named}
	switch {
	case len(a.Outputs) == 0:
		_, err := io.WriteString(w, "{\"outputs\":{}}\n")
		return err
	case a.Form != rest.Examples:
		return rest.WritePredictResponse(w, a.Form, a.Outputs, opts)
	case a.Signature != nil && a.Signature.Method == classifyMethod:
		classes, err := rest.Classes(a.Outputs, a.Examples)
		if err != nil {
			return err
		}
		return rest.WriteClassifyResponse(w, classes, opts)
	case a.Signature != nil && a.Signature.Method == regressMethod:
		values, err := rest.Regressions(a.Outputs, a.Examples)
		if err != nil {
			return err
		}
		return rest.WriteRegressResponse(w, values, opts)
	}
	return rest.WritePredictResponse(w, rest.Columns, a.Outputs, opts)
}

// WriteJSONWith writes the answer as standard JSON, with more fields after it.
func (a *Answer) WriteJSONWith(w io.Writer, more []Field) error {
	var b bytes.Buffer
	if err := a.WriteJSON(&b, true); err != nil {
		return err
	}
	return writeFields(w, bytes.TrimSuffix(bytes.TrimSpace(b.Bytes()), []byte("}")), more)
}

// Field is a field of a JSON object.
type Field struct {
	Name  string
	Value any
}

// WriteFields writes an object of these fields.
func WriteFields(w io.Writer, fields []Field) error { return writeFields(w, []byte("{"), fields) }

// writeFields ends an object that has begun.
func writeFields(w io.Writer, begun []byte, fields []Field) error {
	for _, f := range fields {
		value, err := json.Marshal(f.Value)
		if err != nil {
			return err
		}
		if len(begun) > 1 {
			begun = append(begun, ',')
		}
		begun = fmt.Appendf(begun, "%q:%s", f.Name, value)
	}
	_, err := w.Write(append(begun, "}\n"...))
	return err
}

// WriteNPZ writes the outputs as arrays of a .npz file, in the order of their
// names.
func WriteNPZ(w io.Writer, out map[string]*tensor.Tensor) error {
	z := tensor.NewNPZWriter(w, nil)
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if err := z.Add(name, out[name]); err != nil {
			return err
		}
	}
	return z.Close()
}
