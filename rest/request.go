package rest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
)

// Form is the way in which a request lays out its inputs; a predict response has
// that of its request.
type Form uint8

// The forms of requests.
const (
	// Columns holds a value for each tensor: "inputs", answered by "outputs".
	Columns Form = iota
	// Rows holds a list of rows, each with a part of every tensor: "instances",
	// answered by "predictions".
	Rows
	// Examples holds features for classify and regress: "examples", answered by
	// "results".
	Examples
)

// String returns the field of requests: "inputs", "instances" or "examples".
func (f Form) String() string {
	switch f {
	case Columns:
		return "inputs"
	case Rows:
		return "instances"
	case Examples:
		return "examples"
	}
	return fmt.Sprintf("form %d", uint8(f))
}

// response returns the field of predict responses.
func (f Form) response() string {
	if f == Rows {
		return "predictions"
	}
	return "outputs"
}

// Request is the body of a predict, classify or regress request whose values
// have not been decoded yet.
type Request struct {
	// Signature is the name of the signature, empty if the request leaves it to the
	// server.
	Signature string

	form    Form
	b       []byte
	value   int // offset of the value of the form's field
	context int // offset of the value of "context", 0 for none
}

// ReadOptions are the settings for reading a document; nil means the defaults.
type ReadOptions struct {
	// MaxBytes is the largest size of a document; a longer one is an error.
	// Default 1 GiB.
	MaxBytes int64
}

// defaultMaxBytes is the default that ReadOptions states. It is Cairn's, since TensorFlow Serving
// has no limit of its own.
const defaultMaxBytes = 1 << 30

// readAll reads a document.
func readAll(r io.Reader, opts *ReadOptions) ([]byte, error) {
	limit := int64(defaultMaxBytes)
	if opts != nil && opts.MaxBytes > 0 {
		limit = opts.MaxBytes
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("the document is longer than %d bytes", limit)
	}
	return b, err
}

// ReadRequest reads a request up to the reader's end. An error of the JSON is an
// [*Error].
func ReadRequest(r io.Reader, opts *ReadOptions) (*Request, error) {
	b, err := readAll(r, opts)
	if err != nil {
		return nil, err
	}
	return ParseRequest(b)
}

// ParseRequest finds the fields of a request and checks the syntax of the whole
// document. The request keeps b, which must not change. An error is an [*Error].
func ParseRequest(b []byte) (*Request, error) {
	r := &Request{b: b}
	found := false
	at, err := fields(b, []string{"signature_name", "instances", "inputs", "examples", "context"}, "request")
	if err != nil {
		return nil, err
	}
	for _, f := range []Form{Columns, Rows, Examples} {
		p, ok := at[f.String()]
		switch {
		case ok && found:
			return nil, fault(p, "a request holds either %q or %q, not both", r.form, f)
		case ok:
			r.form, r.value, found = f, p, true
		}
	}
	if p, ok := at["context"]; ok {
		if r.context = p; found && r.form != Examples {
			return nil, fault(p, `"context" belongs to "examples", and the request holds %q`, r.form)
		}
	}
	if p, ok := at["signature_name"]; ok {
		s := &scanner{b, p}
		if s.next() != '"' {
			return nil, fault(p, "%s is no name (want a string)", s.value()).below("signature_name")
		}
		var bad *Error
		if r.Signature, bad = s.text(); bad != nil {
			return nil, bad.below("signature_name")
		}
	}
	if !found {
		return nil, fault(0, `a request holds "instances" or "inputs", or for classify and regress "examples"`)
	}
	return r, nil
}

// fields returns the offsets of the values of a document's fields, and checks the syntax of all of it.
// known are the names that may occur, what is the document's name for errors. So the functions that
// decode a value later see no error of syntax but in strings.
func fields(b []byte, known []string, what string) (map[string]int, error) {
	s := &scanner{b: b}
	s.word("\ufeff") // a byte order mark
	if s.next() != '{' {
		if s.at == len(b) {
			return nil, fault(0, "the %s is empty (want a JSON object)", what)
		}
		return nil, fault(s.at, "the %s is %s (want a JSON object)", what, s.value())
	}
	at := map[string]int{}
	err := s.object(func(name string, p int) *Error {
		_, twice := at[name]
		switch {
		case twice:
			return fault(p, "the field %s appears twice", quote(name))
		case !slices.Contains(known, name):
			hint := strings.Join(known, ", ")
			if near := nearest.Names(name, known, 1); len(near) == 1 && near[0] != name {
				hint += "; did you mean " + near[0] + "?"
			}
			return fault(p, "a %s has no field %s; the fields are %s", what, quote(name), hint)
		}
		at[name] = s.at
		_, err := s.skip()
		return err
	})
	if err == nil && (s.next() != 0 || s.at < len(b)) {
		err = fault(s.at, "something follows the end of the %s", what)
	}
	return at, asError(err)
}

// Form returns the form of the request.
func (r *Request) Form() Form { return r.form }

// Tensors decodes the inputs of a predict request. The result has a tensor for
// every Spec for which the request has a value. Required ones without a value
// are an error, as are values that a Spec's type or shape can't take. An error
// is an [*Error].
func (r *Request) Tensors(inputs []Spec) (map[string]*tensor.Tensor, error) {
	if r.form == Examples {
		return nil, fault(r.value, `predict takes "instances" or "inputs", and the request holds "examples"`)
	}
	s := &scanner{r.b, r.value}
	decode := columns
	if r.form == Rows {
		decode = rows
	}
	out, err := decode(s, "input", inputs)
	if err != nil {
		return nil, err.below(r.form.String())
	}
	return out, nil
}
