package layers

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// equation is a parsed equation of an [EinsumDense]. The forms, and the shapes that follow from them,
// are those of tf_keras's einsum_dense._analyze_einsum_string. MultiHeadAttention makes such equations.
type equation struct {
	in, kernel, out string // the letters of their dimensions
	left, right     bool   // the input and the output begin, or end, with "..."
}

// parseEquation reads an equation in one of the three forms.
func parseEquation(text string) (equation, error) {
	bad := fmt.Errorf("the equation has another form (got %q, want one such as \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\")", text)
	terms, out, ok := strings.Cut(text, "->")
	in, kernel, comma := strings.Cut(terms, ",")
	if !ok || !comma {
		return equation{}, bad
	}
	e := equation{kernel: kernel}
	var outLeft, outRight bool
	e.in, e.left = strings.CutPrefix(in, "...")
	e.out, outLeft = strings.CutPrefix(out, "...")
	if !e.left {
		e.in, e.right = strings.CutSuffix(e.in, "...")
	}
	if !outLeft {
		e.out, outRight = strings.CutSuffix(e.out, "...")
	}
	if e.left != outLeft || e.right != outRight || e.right && len(e.in) < 2 {
		return equation{}, bad
	}
	for _, part := range []string{e.in, e.kernel, e.out} {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return equation{}, bad
		}
	}
	return e, nil
}

// shapes returns the shapes of kernel and bias. x is the input's shape with the batch, or nil if
// it isn't known. Then sizes that depend on it are -1. partial is the layer's OutputShape, where
// -1 is a size of the input.
func (e equation) shapes(x, partial tensor.Shape, biasAxes *string) (kernel, bias tensor.Shape, err error) {
	elided := len(x) - len(e.in) // the number of dimensions that "..." represents, if x is known
	if x != nil && (elided < 0 || elided > 0 && !e.left && !e.right) {
		return nil, nil, fmt.Errorf("it doesn't fit an input of shape %v", x)
	}
	size := map[rune]int{}
	offset := 0
	if e.left && x != nil {
		offset = elided
	}
	for i, c := range e.in {
		size[c] = -1
		if x != nil {
			size[c] = x[i+offset]
		}
	}
	// out has the size of each letter of the output. Without a leading "..." the first letter is
	// the batch, which partial leaves out. With one, partial has all letters, as in tf_keras.
	out := map[rune]int{}
	rest := []rune(e.out)
	if !e.left {
		rest = rest[1:]
		if c := rune(e.out[0]); x != nil {
			out[c] = x[0]
		} else {
			out[c] = -1
		}
	}
	if len(rest) != len(partial) {
		return nil, nil, fmt.Errorf("the output shape %v has %d sizes, want %d", partial, len(partial), len(rest))
	}
	for i, c := range rest {
		out[c] = partial[i]
		if n, both := size[c]; both && partial[i] >= 0 && n >= 0 && n != partial[i] {
			return nil, nil, fmt.Errorf("the dimension %q has the size %d in the input and %d in the output", string(c), n, partial[i])
		}
	}
	for _, c := range e.kernel {
		n, ok := size[c]
		if !ok {
			if n, ok = out[c]; !ok {
				return nil, nil, fmt.Errorf("the kernel's dimension %q is neither in the input nor in the output", string(c))
			}
		}
		kernel = append(kernel, n)
	}
	for _, c := range e.out {
		if !strings.ContainsRune(e.in+e.kernel, c) {
			return nil, nil, fmt.Errorf("the output's dimension %q is neither in the input nor in the kernel", string(c))
		}
	}
	if biasAxes == nil {
		return kernel, nil, nil
	}
	first := len(e.out)
	for _, c := range *biasAxes {
		at := strings.IndexRune(e.out, c)
		if at < 0 {
			return nil, nil, fmt.Errorf("the bias's dimension %q is not in the output", string(c))
		}
		first = min(first, at)
	}
	if first == len(e.out) {
		return nil, nil, fmt.Errorf("the bias has no dimension")
	}
	for _, c := range e.out[first:] {
		n := 1
		if strings.ContainsRune(*biasAxes, c) {
			if n = out[c]; n < 0 {
				n = size[c]
			}
		}
		bias = append(bias, n)
	}
	if e.right {
		for range max(elided, 0) {
			bias = append(bias, 1)
		}
	}
	return kernel, bias, nil
}
