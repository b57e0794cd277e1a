package rest

import (
	"strconv"

	"github.com/cairnml/cairn/tensor"
)

// ParseTensor decodes one value, such as [[1, 2], [3, 4]], by the rules of
// [Request.Tensors]. The path of an [*Error] begins with the Spec's name.
func ParseTensor(value []byte, spec Spec) (*tensor.Tensor, error) {
	s := &scanner{b: value}
	if _, err := s.skip(); err != nil {
		return nil, err.below(spec.Name)
	}
	if s.next() != 0 || s.at < len(value) {
		return nil, fault(s.at, "something follows the end of the value").below(spec.Name)
	}
	s.at = 0
	b, err := newBuilder(spec)
	if err == nil {
		err = b.value(s, 0)
	}
	if err != nil {
		return nil, err.below(spec.Name)
	}
	t, err := b.tensor(0)
	if err != nil {
		return nil, err.below(spec.Name)
	}
	return t, nil
}

// The JSON that is accepted, and the errors for other JSON, are in the package comment; docs and tests
// have the texts. The names below that end in at are offsets in bytes, for errors.

// builder makes a tensor of nested lists as it goes through them, once, without a tree of values. So
// memory is proportional to the elements.
type builder struct {
	spec     Spec
	elements elements
	shape    []int // sizes of the dimensions seen so far; -1 for one whose first list has not ended
	closed   bool  // whether the number of dimensions is known
	row      int   // the last row that had this input, from 1
}

func newBuilder(spec Spec) (*builder, *Error) {
	e := elementsOf(spec.DType)
	if e == nil {
		return nil, fault(0, "%s can't be given as JSON", article(spec.DType))
	}
	return &builder{spec: spec, elements: e}, nil
}

// value reads the next value, which is nested in depth lists.
func (b *builder) value(s *scanner, depth int) *Error {
	if s.next() != '[' || b.spec.DType.IsComplex() && isComplexElement(s) {
		if b.closed && depth != len(b.shape) {
			return fault(s.at, "got %s next to %s; lists must be rectangular", s.value(), listsWord(len(b.shape)-depth))
		}
		b.closed = true
		return b.elements.read(s)
	}
	begin := s.at
	switch {
	case b.closed && depth >= len(b.shape):
		return fault(begin, "got a list next to values that are no lists; lists must be rectangular")
	case depth >= tensor.MaxRank:
		return fault(begin, "lists nest deeper than %d", tensor.MaxRank)
	case depth >= len(b.shape):
		b.shape = append(b.shape, -1)
	}
	n := 0
	err := s.list(func(i int) *Error {
		if size := b.shape[depth]; size >= 0 && i >= size {
			return fault(begin, "the list has more than %s; lists must be rectangular", elementsWord(size))
		}
		n++
		return b.value(s, depth+1).under(i)
	})
	if err != nil {
		return err
	}
	switch size := b.shape[depth]; {
	case size < 0:
		b.shape[depth] = n
		b.closed = true // an empty list has nothing further in it
	case n != size:
		return fault(begin, "the list has %s, the ones before it have %d; lists must be rectangular", elementsWord(n), size)
	}
	return nil
}

// tensor returns the tensor that was read. Dimensions inside of an empty list are those of the Spec, 0
// if the Spec leaves them open.
func (b *builder) tensor(at int) (*tensor.Tensor, *Error) {
	want := b.spec.Shape
	empty := false
	for _, n := range b.shape {
		empty = empty || n == 0
	}
	for empty && len(b.shape) < len(want) {
		b.shape = append(b.shape, max(0, want[len(b.shape)]))
	}
	if want != nil && !want.Accepts(b.shape) {
		return nil, fault(at, "the shape is %v (want %s)", tensor.Shape(b.shape), b.spec.describe())
	}
	t, err := b.elements.tensor(b.shape)
	if err != nil {
		return nil, fault(at, "the values make no tensor of shape %v", tensor.Shape(b.shape))
	}
	return t, nil
}

func listsWord(n int) string {
	if n == 1 {
		return "lists"
	}
	return "lists of lists"
}

func elementsWord(n int) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.Itoa(n) + " elements"
}

// count returns "no inputs", "1 input" or "3 inputs".
func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// columns decodes the value of "inputs" or "outputs". what is "input" or "output", for errors.
func columns(s *scanner, what string, specs []Spec) (map[string]*tensor.Tensor, *Error) {
	out := map[string]*tensor.Tensor{}
	one := func(spec Spec) *Error {
		at := s.at
		b, err := newBuilder(spec)
		if err != nil {
			return err
		}
		if err := b.value(s, 0); err != nil {
			return err
		}
		t, err := b.tensor(at)
		out[spec.Name] = t
		return err
	}
	begin := s.at
	if s.next() != '{' || isBase64(s) {
		if len(specs) != 1 {
			return nil, fault(begin, "%s has no name (want an object, since the signature has %s)", s.value(), count(len(specs), what))
		}
		return out, one(specs[0])
	}
	err := s.object(func(name string, at int) *Error {
		i := specNamed(specs, name)
		switch {
		case i < 0:
			return fault(at, "%s", unknownName(what, name, specs))
		case out[name] != nil:
			return fault(at, "the name appears twice").below(name)
		}
		return one(specs[i]).below(name)
	})
	if err != nil {
		return nil, err
	}
	for _, x := range specs {
		if !x.Optional && out[x.Name] == nil {
			return nil, fault(begin, "the %s %s is missing", what, quote(x.Name))
		}
	}
	return out, nil
}

// rows decodes the value of "instances" or "predictions"; what is as for columns. Requests have at
// least one row, responses may have none.
func rows(s *scanner, what string, specs []Spec) (map[string]*tensor.Tensor, *Error) {
	begin := s.at
	if s.next() != '[' {
		return nil, fault(begin, "got %s (want a list of rows)", s.value())
	}
	builders := make([]*builder, len(specs))
	start := func(i int) (*builder, *Error) {
		b, err := newBuilder(specs[i])
		if err == nil {
			b.shape, builders[i] = []int{-1}, b
		}
		return b, err
	}
	n, named := 0, false
	err := s.list(func(row int) *Error {
		object := s.next() == '{' && !isBase64(s)
		at := s.at
		if row == 0 {
			named = object
		}
		n++
		switch {
		case object != named && named:
			return fault(at, "got %s after rows that are objects", s.value()).under(row)
		case object != named:
			return fault(at, "got an object after rows that are no objects").under(row)
		case named:
			return namedRow(s, row, what, specs, builders, start).under(row)
		case len(specs) != 1:
			return fault(at, "%s has no name (want an object, since the signature has %s)", s.value(), count(len(specs), what)).under(row)
		}
		b, err := builders[0], (*Error)(nil)
		if b == nil {
			if b, err = start(0); err != nil {
				return err
			}
		}
		return b.value(s, 1).under(row)
	})
	if err != nil {
		return nil, err
	}
	if n == 0 && what == "input" {
		return nil, fault(begin, "the list of rows is empty")
	}
	for i := range builders {
		if n == 0 { // an answer without rows
			if _, err := start(i); err != nil {
				return nil, err
			}
		}
	}
	out := map[string]*tensor.Tensor{}
	for i, b := range builders {
		if b == nil { // an optional input, which no row has
			continue
		}
		b.shape[0] = n
		if out[specs[i].Name], err = b.tensor(begin); err != nil {
			return nil, err.below(specs[i].Name)
		}
	}
	return out, nil
}

// namedRow decodes a row that is an object. All rows must have the names of the
// first.
func namedRow(s *scanner, row int, what string, specs []Spec, builders []*builder, start func(i int) (*builder, *Error)) *Error {
	at := s.at
	err := s.object(func(name string, at int) *Error {
		i := specNamed(specs, name)
		if i < 0 {
			return fault(at, "%s", unknownName(what, name, specs))
		}
		b, err := builders[i], (*Error)(nil)
		switch {
		case b == nil && row > 0:
			return fault(at, "the rows before this one have no %s %s", what, quote(name))
		case b == nil:
			if b, err = start(i); err != nil {
				return err.below(name)
			}
		case b.row == row+1:
			return fault(at, "the name appears twice").below(name)
		}
		b.row = row + 1
		return b.value(s, 1).below(name)
	})
	if err != nil {
		return err
	}
	for i, b := range builders {
		if have := b != nil && b.row == row+1; !have && (b != nil || !specs[i].Optional) {
			return fault(at, "the %s %s is missing", what, quote(specs[i].Name))
		}
	}
	return nil
}
