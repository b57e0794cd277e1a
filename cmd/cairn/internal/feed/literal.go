package feed

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// AddLiteral adds the input of a literal to in: NAME=VALUE, or VALUE alone if the
// signature has one input. The value is JSON by the rules of package rest, or @FILE
// with an .npy, a picture or a .csv.
func AddLiteral(ctx context.Context, in map[string]*tensor.Tensor, literal string, stdin io.Reader, inputs []savedmodel.TensorInfo, opts *Options) error {
	x, value, err := target(literal, inputs)
	if err != nil {
		return err
	}
	if in[x.Name] != nil {
		return fmt.Errorf("the input %q is given twice", x.Name)
	}
	path, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		in[x.Name], err = rest.ParseTensor([]byte(value), specOf(x))
		if err != nil && x.DType == tensor.String && !strings.ContainsAny(value, `"[{`) {
			return fmt.Errorf("%w; a string needs quotes: %s='%q'", err, x.Name, value)
		}
		return err
	}
	s, err := Open(path, stdin)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.kind == request || s.kind == npz {
		return fmt.Errorf("%s: the input %q takes an .npy, a picture or a .csv; requests and .npz files hold all inputs at once", s.path, x.Name)
	}
	one, err := s.Read(ctx, []savedmodel.TensorInfo{x}, opts)
	in[x.Name] = one[x.Name]
	return err
}

// target returns the input that a literal is for, and the text of its value. A literal of which
// the part before "=" isn't an input is a value without a name if it begins as values do.
func target(literal string, inputs []savedmodel.TensorInfo) (x savedmodel.TensorInfo, value string, err error) {
	name, value, named := strings.Cut(literal, "=")
	if i := slices.IndexFunc(inputs, func(x savedmodel.TensorInfo) bool { return x.Name == name }); named && i >= 0 {
		return inputs[i], value, nil
	}
	// Values begin so; names hardly do.
	plain := !named || strings.ContainsAny(literal[:1], `[{"@-0123456789`)
	switch {
	case plain && len(inputs) == 1:
		return inputs[0], literal, nil
	case plain:
		return x, "", fmt.Errorf("%s has no name (want NAME=VALUE, since the signature takes %d inputs: %s)", literal, len(inputs), names(inputs))
	}
	return x, "", fmt.Errorf("there is no input %q; the signature takes %s", name, names(inputs))
}
