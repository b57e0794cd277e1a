package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

func newCat(a *app) *cobra.Command {
	var npy, raw, full bool
	c := &cobra.Command{
		Use:   "cat PATH [NAME…]",
		Short: "Print tensors' values, or parts of them",
		Long: `Print tensors' values as numpy does, large ones summarised. NAME takes a
subscript as in Python: name[0:2], name[:,-1]. A NAME with * or ? stands for all
that match, slashes too. Any path that show prints will do as a name. Without
NAMEs all are printed.`,
		Example: `  cairn cat model/ckpt-10 net/l1/bias
  cairn cat model/ckpt-10 'net/l1/kernel[0:2,:]'
  cairn cat --full model/ckpt-10 net/l1/kernel
  cairn cat --npy model/ckpt-10 net/l1/kernel > kernel.npy
  cairn cat --raw model/ckpt-10 vocabulary > words.txt`,
		Args:              need(1, -1, "a PATH"),
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.openFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := catList(cmd.Context(), a, s, args[1:])
			if err != nil {
				return err
			}
			switch {
			case npy && raw || npy && a.json || raw && a.json:
				return usagef("--npy, --raw and --json are three ways to print; use one")
			case (npy || raw) && len(list) != 1:
				return usagef("--npy and --raw print one tensor (got %d); name it", len(list))
			case npy && a.outTTY:
				return usagef("--npy writes bytes, which would spoil the terminal; send them to a file: > x.npy")
			}
			if a.json {
				return catJSON(cmd.Context(), a, s, list)
			}
			for n, x := range list {
				t, err := s.ReadIndex(cmd.Context(), x.Entry, x.Index)
				if err != nil {
					return err
				}
				switch {
				case npy:
					return tensor.WriteNPY(a.out, t, nil)
				case raw:
					return writeRaw(a.out, t)
				}
				if len(list) > 1 {
					if n > 0 {
						fmt.Fprintln(a.out)
					}
					head := fmt.Sprintf("%s  %v %v", render.Printable(tensorfile.Short(x.Name)), t.DType(), t.Shape())
					if a.color {
						head = "\x1b[1m" + head + "\x1b[0m"
					}
					fmt.Fprintln(a.out, head)
				}
				o := &tensor.TextOptions{LineWidth: min(a.width-5, 120)}
				if full {
					o.Threshold = -1
				}
				if d := t.DType(); d.IsFloating() && d.Size() <= 2 && d != tensor.Float16 {
					o.Precision = 45 // no type of numpy's, whose eight digits would cut values short
				}
				fmt.Fprintln(a.out, t.Text(o))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&npy, "npy", false, "write a .npy file to stdout")
	c.Flags().BoolVar(&raw, "raw", false, "write the bytes as in memory; strings end to end")
	c.Flags().BoolVar(&full, "full", false, "print every element of large tensors")
	return c
}

// writeRaw writes t's elements in row-major order without a header: numbers in little-endian
// byte order, strings end to end.
func writeRaw(w io.Writer, t *tensor.Tensor) error {
	if t.DType().Fixed() {
		_, err := w.Write(t.Bytes())
		return err
	}
	for _, s := range t.Strings() {
		if _, err := io.WriteString(w, s); err != nil {
			return err
		}
	}
	return nil
}

// catList returns the tensors that names select, or all. The object graph, bytes
// for programs, is only printed if it is named or with --json.
func catList(ctx context.Context, a *app, s *tensorfile.File, names []string) ([]tensorfile.Selected, error) {
	if len(names) > 0 {
		return s.Select(ctx, names)
	}
	var list []tensorfile.Selected
	for e := range s.Entries().All() {
		if e.Name != tensorfile.GraphKey || a.json {
			list = append(list, tensorfile.Selected{Entry: e})
		}
	}
	return list, nil
}

// catJSON prints an array with an object for each tensor, one after the other, so
// that no more than one is in memory. Values are nested arrays; NaN and the
// infinities are strings, bytes that are no UTF-8 are {"b64":…}, complex numbers
// pairs.
func catJSON(ctx context.Context, a *app, s *tensorfile.File, list []tensorfile.Selected) error {
	return a.printJSONList(len(list), func(i int) (any, error) {
		t, err := s.ReadIndex(ctx, list[i].Entry, list[i].Index)
		if err != nil {
			return nil, err
		}
		return struct {
			Name   string          `json:"name"`
			DType  string          `json:"dtype"`
			Shape  []int           `json:"shape"`
			Values json.RawMessage `json:"values"`
		}{list[i].Name, t.DType().String(), append([]int{}, t.Shape()...), appendValues(nil, t)}, nil
	})
}

// appendValues appends t's values as nested JSON arrays, for cat --json. The form of each value
// is in docs/json.md and must stay.
func appendValues(b []byte, t *tensor.Tensor) []byte {
	n, err := t.Shape().NumElements()
	if err != nil {
		return append(b, "null"...)
	}
	if t.Rank() == 0 {
		return appendValue(b, t, 0)
	}
	if n == 0 {
		return append(b, "[]"...)
	}
	// Brackets open and close at the multiples of run.
	run := make([]int, t.Rank()) // elements below one item of each dimension's list
	at := 1
	for i := t.Rank() - 1; i >= 0; i-- {
		at *= t.Shape()[i]
		run[i] = at
	}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		for _, r := range run {
			if i%r == 0 {
				b = append(b, '[')
			}
		}
		b = appendValue(b, t, i)
		for _, r := range run {
			if (i+1)%r == 0 {
				b = append(b, ']')
			}
		}
	}
	return b
}

// appendValue appends element number i of t.
func appendValue(b []byte, t *tensor.Tensor, i int) []byte {
	number := func(v float64, bits int) {
		switch {
		case math.IsNaN(v):
			b = append(b, `"NaN"`...)
		case math.IsInf(v, 1):
			b = append(b, `"Infinity"`...)
		case math.IsInf(v, -1):
			b = append(b, `"-Infinity"`...)
		default:
			format := byte('f')
			if x := math.Abs(v); x != 0 && (x < 1e-6 || x >= 1e21) {
				format = 'e'
			}
			b = strconv.AppendFloat(b, v, format, -1, bits)
		}
	}
	switch d := t.DType(); {
	case !d.Fixed():
		s := t.Strings()[i]
		if d == tensor.String && utf8.ValidString(s) {
			text, _ := json.Marshal(s)
			return append(b, text...)
		}
		b = append(b, `{"b64":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(s))
		return append(b, `"}`...)
	case d == tensor.Bool:
		return strconv.AppendBool(b, t.Bytes()[i] != 0)
	case d == tensor.Int64:
		return strconv.AppendInt(b, tensor.Values[int64](t)[i], 10)
	case d == tensor.Uint64:
		return strconv.AppendUint(b, tensor.Values[uint64](t)[i], 10)
	case d.IsComplex():
		v, bits := complex128(0), 64
		if d == tensor.Complex64 {
			v, bits = complex128(tensor.Values[complex64](t)[i]), 32
		} else {
			v = tensor.Values[complex128](t)[i]
		}
		b = append(b, '[')
		number(real(v), bits)
		b = append(b, ',')
		number(imag(v), bits)
		return append(b, ']')
	default:
		v, _ := t.AppendFloat64s(nil, i, i+1) // every other type is real
		bits := 32
		if d == tensor.Float64 || d.IsInteger() || d.IsQuantized() {
			bits = 64
		}
		number(v[0], bits)
		return b
	}
}
