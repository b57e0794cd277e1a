package rest

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// WritePredictRequest writes a predict request with these inputs, by their
// names; an empty signature leaves the choice to the server. With [Rows] all
// inputs must have the same first size, which is the number of rows.
func WritePredictRequest(w io.Writer, signature string, form Form, inputs map[string]*tensor.Tensor, opts *WriteOptions) error {
	out := newWriter(w, opts)
	out.raw("{")
	if signature != "" {
		out.key("signature_name")
		out.text(signature)
		out.raw(",")
	}
	out.key(form.String())
	return out.tensors("input", form, inputs, true)
}

// WritePredictResponse writes the outputs of a signature as a response to a
// request of that form: by row after [Rows], by column after [Columns]. With [Rows] all outputs must
// have the same first size, which is the number of rows.
func WritePredictResponse(w io.Writer, form Form, outputs map[string]*tensor.Tensor, opts *WriteOptions) error {
	if len(outputs) == 0 {
		return errNoOutputs
	}
	out := newWriter(w, opts)
	out.raw("{")
	out.key(form.response())
	return out.tensors("output", form, outputs, out.names)
}

// column is a tensor on its way to JSON.
type column struct {
	name    string
	shape   tensor.Shape
	element appender
	at      int // the next element
}

// tensors writes tensors by row or by column, and ends the document. Nothing is
// written if the tensors can't be.
func (w *writer) tensors(what string, form Form, tensors map[string]*tensor.Tensor, named bool) error {
	var list []*column
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		e, err := w.appenderOf(name, t)
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, quote(name), err)
		}
		if t.Len() == 0 && lists(t.Shape()) > maxEmptyLists {
			return fmt.Errorf("%s %s: the shape %v is too many empty lists", what, quote(name), t.Shape())
		}
		list = append(list, &column{name, t.Shape(), e, 0})
	}
	// An object {"b64": "…"} would be read as a string.
	named = len(list) != 1 || named && list[0].name != base64Key
	switch form {
	case Columns:
		w.fields(list, named, 0)
	case Rows:
		n, err := rowsOf(what, list)
		if err != nil {
			return err
		}
		w.raw("[")
		for i := range n {
			if i > 0 {
				w.raw(",")
			}
			w.fields(list, named, 1)
			if w.err != nil {
				return w.err
			}
		}
		w.raw("]")
	default:
		return fmt.Errorf("a predict document has no %q", form)
	}
	w.raw("}")
	return w.end()
}

// maxEmptyLists bounds the lists of a tensor without elements, because a small
// tensor may have any number of them. The limit is Cairn's.
const maxEmptyLists = 1 << 20

// lists returns the number of empty lists that a tensor without elements consists of: the product of
// the sizes before the first 0.
func lists(shape tensor.Shape) float64 {
	n := 1.0
	for _, d := range shape {
		if d == 0 {
			break
		}
		n *= float64(d)
	}
	return n
}

// fields writes the next part of each tensor: all of it if below is 0, one row if it is 1.
func (w *writer) fields(list []*column, named bool, below int) {
	if !named {
		list[0].at = w.nested(list[0].shape[below:], list[0].at, list[0].element)
		return
	}
	w.raw("{")
	for i, c := range list {
		if i > 0 {
			w.raw(",")
		}
		w.key(c.name)
		c.at = w.nested(c.shape[below:], c.at, c.element)
	}
	w.raw("}")
}

// rowsOf returns the number of rows.
func rowsOf(what string, list []*column) (int, error) {
	for _, c := range list {
		switch {
		case len(c.shape) == 0:
			return 0, fmt.Errorf("%s %s: a scalar has no rows; use %q in place of %q", what, quote(c.name), Columns, Rows)
		case c.shape[0] != list[0].shape[0]:
			return 0, fmt.Errorf("%s %s: it has %d rows, and %s has %d; use %q in place of %q", what, quote(c.name), c.shape[0], quote(list[0].name), list[0].shape[0], Columns, Rows)
		}
	}
	if len(list) == 0 {
		return 0, fmt.Errorf("without an %s there are no rows; use %q in place of %q", what, Columns, Rows)
	}
	return list[0].shape[0], nil
}

// ReadPredictResponse reads a response to a predict request, by the Specs of the
// signature's outputs, and returns its form. An error that the response holds is
// a [*RemoteError]; an error of the JSON is an [*Error].
func ReadPredictResponse(r io.Reader, outputs []Spec, opts *ReadOptions) (map[string]*tensor.Tensor, Form, error) {
	b, at, err := readResponse(r, []string{"predictions", "outputs"}, opts)
	if err != nil {
		return nil, Columns, err
	}
	form, decode := Columns, columns
	if _, ok := at[Rows.response()]; ok {
		form, decode = Rows, rows
	}
	p, ok := at[form.response()]
	if !ok || len(at) > 1 {
		return nil, form, fault(0, `a response holds either "predictions" or "outputs"`)
	}
	out, bad := decode(&scanner{b, p}, "output", outputs)
	if bad != nil {
		return nil, form, bad.below(form.response())
	}
	return out, form, nil
}

// readResponse reads a response and finds its fields. An error that it holds is
// returned.
func readResponse(r io.Reader, known []string, opts *ReadOptions) (b []byte, at map[string]int, err error) {
	if b, err = readAll(r, opts); err != nil {
		return nil, nil, err
	}
	if at, err = fields(b, append(known, "error"), "response"); err != nil {
		return nil, nil, err
	}
	if p, ok := at["error"]; ok {
		s := &scanner{b, p}
		if s.next() != '"' {
			return nil, nil, fault(p, "%s is no message (want a string)", s.value()).below("error")
		}
		text, bad := s.text()
		if bad != nil {
			return nil, nil, bad.below("error")
		}
		return nil, nil, &RemoteError{text}
	}
	return b, at, nil
}

// WriteError writes the response with the reason why there is no result.
func WriteError(w io.Writer, err error) error {
	out := newWriter(w, nil)
	out.raw("{")
	out.key("error")
	out.text(toUTF8(err.Error()))
	out.raw("}")
	return out.end()
}
