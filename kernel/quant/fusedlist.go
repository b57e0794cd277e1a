package quant

import (
	"fmt"
	stdslices "slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/epilogue"
	"github.com/cairnml/cairn/tensor"
)

// Two kinds of ops list the steps after their sums in the attribute fused_ops:
// _QuantizedMatMul, and the convolutions _FusedQuantizedConv2D and
// _FusedQuantizedDepthwiseConv2D. TensorFlow refuses the lists that are refused here.
//
// For _QuantizedMatMul the formulas of scaled, convert and range8, and their roundings to
// float32, are those of QuantizedFusedMatMulOp in TensorFlow's mkl_matmul_op_fused.cc. They
// decide codes, so they must stay. The steps after the sums are oneDNN's: see fused.go.

// steps are the entries of fused_ops that haven't been read yet.
type steps []string

// next reports whether the next entry is name, and removes it.
func (s *steps) next(name string) bool {
	if len(*s) == 0 || (*s)[0] != name {
		return false
	}
	*s = (*s)[1:]
	return true
}

// unknown returns the error for a list that no kernel implements.
func unknown(a graph.Attrs, known string) error {
	return fmt.Errorf("no kernel for the fused ops %v; %s are fused, in this order", a.Strings("fused_ops"), known)
}

// otherType returns the error for a type that doesn't go with the steps.
func otherType(a graph.Attrs, attr string, d tensor.DType, want ...tensor.DType) error {
	return fmt.Errorf("no kernel for the fused ops %v with %s = %v, only with %v", a.Strings("fused_ops"), attr, d, want)
}

// read reads the steps of a convolution, and checks the types against them.
func (f *fusedConv) read(a graph.Attrs) error {
	s := steps(a.Strings("fused_ops"))
	f.bias, f.sum, f.relu, f.requantize = s.next("BiasAdd"), s.next("Sum"), s.next("Relu"), s.next("Requantize")
	if len(s) > 0 || f.sum && !(f.bias && f.relu) {
		return unknown(a, "BiasAdd, Sum with BiasAdd and Relu, Relu and Requantize")
	}
	results := []tensor.DType{tensor.QInt32}
	if f.requantize {
		results = []tensor.DType{tensor.QUint8, tensor.QInt8}
	}
	summands := []tensor.DType{f.out}
	if f.sum {
		if f.requantize {
			results = results[:1]
			summands = []tensor.DType{tensor.QUint8, tensor.QInt8}
		} else {
			summands = []tensor.DType{tensor.Float32}
		}
	}
	summand := a.Type("Tsummand", f.out)
	switch {
	case !stdslices.Contains(results, f.out):
		return otherType(a, "out_type", f.out, results...)
	case !stdslices.Contains(summands, summand):
		return otherType(a, "Tsummand", summand, summands...)
	}
	f.signed = f.sum && summand == tensor.QInt8
	return nil
}

// listedMatMul is a product of matrices of codes, with the steps that its
// attributes list. A code is the integer of a quantized number.
type listedMatMul struct {
	activate   func([]float32)
	add        bool
	requantize bool
	dequantize bool
	transposed bool         // the second matrix is
	fromLeast  [2]bool      // whether codes begin at the least float (MIN_FIRST), of the input and the output
	bias, out  tensor.DType // types
}

func prepareListedMatMul(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	f := listedMatMul{transposed: a.Bool("transpose_b"), bias: a.Type("Tbias", tensor.Float32), out: a.Type("Tout", tensor.Float32)}
	if a.Bool("transpose_a") {
		return nil, fmt.Errorf("transpose_a is set, which TensorFlow's kernel doesn't implement")
	}
	for i, name := range []string{"input_quant_mode", "output_quant_mode"} {
		mode := a.String(name, "SCALED")
		if f.fromLeast[i] = mode == "MIN_FIRST"; !f.fromLeast[i] && mode != "SCALED" {
			return nil, fmt.Errorf("%s is %q, neither MIN_FIRST nor SCALED", name, mode)
		}
	}
	s := steps(a.Strings("fused_ops"))
	bias := s.next("BiasAdd")
	f.add = s.next("Add")
	relu := false
	if len(s) > 0 && !f.add {
		relu = s[0] == "Relu"
		switch {
		case s[0] == "LeakyRelu":
			f.activate = epilogue.LeakyRelu(float32(a.Float("leakyrelu_alpha", 0.2)))
		case s[0] != "Swish": // TensorFlow doesn't know its name
			f.activate = epilogue.Activation(s[0])
		}
		if f.activate != nil {
			s = s[1:]
		}
	}
	f.requantize, f.dequantize = s.next("Requantize"), s.next("Dequantize")
	scaled := f.requantize != f.dequantize
	if !bias || len(s) > 0 || f.requantize && f.dequantize || f.add && !f.dequantize || f.activate != nil && !relu && !scaled {
		return nil, unknown(a, "BiasAdd, then Add with Dequantize, or Relu, or another activation with Requantize or Dequantize, then one of these two")
	}
	if err := f.check(a); err != nil {
		return nil, err
	}
	return f.run, nil
}

// check returns an error for types that TensorFlow refuses for the steps, or for which
// it reads other bytes than those of the inputs.
func (f *listedMatMul) check(a graph.Attrs) error {
	if !f.requantize && !f.dequantize && f.out != tensor.QInt32 {
		return otherType(a, "Tout", f.out, tensor.QInt32)
	}
	if summand := a.Type("U", tensor.Float32); f.add && f.out != summand {
		return otherType(a, "Tout", f.out, summand)
	}
	if f.bias == tensor.BFloat16 && f.out == tensor.QInt32 && f.fromLeast[0] != f.requantize {
		return otherType(a, "Tbias", f.bias, tensor.Float32, tensor.QInt32)
	}
	return nil
}

// run multiplies. A qint32 result has the scale of the sums of products, and the bias is
// added to it in its own unit, as TensorFlow does.
//
// Inputs are the matrices, the bias, and the summand if Add is listed. The least and the
// largest float follow: of the first matrix, of the second, and with Requantize of the output.
// Outputs are the product, and its least and largest float unless it holds floats.
func (f *listedMatMul) run(c *engine.Call) error {
	at := 3
	if f.add {
		at++
	}
	need := at + 4
	if f.requantize {
		need += 2
	}
	if err := c.Need(need); err != nil {
		return err
	}
	s, t := c.In(0).Shape(), c.In(1).Shape()
	if len(s) != 2 || len(t) != 2 {
		return fmt.Errorf("matrices of shapes %v and %v can't be multiplied", s, t)
	}
	m, k, n := s[0], s[1], t[1]
	if f.transposed {
		n, t = t[0], tensor.Shape{t[1], t[0]}
	}
	if k != t[0] {
		return fmt.Errorf("matrices of shapes %v and %v can't be multiplied", s, t)
	}
	codes, err := signedCodes(c, 1)
	if err != nil {
		return err
	}
	if f.transposed {
		codes = transposed(codes, n, k)
	}
	input, err := spanAt(c, at)
	if err != nil {
		return err
	}
	columns, err := perChannel(c, at+2, n)
	if err != nil {
		return err
	}
	r, err := f.scaled(c, codes, input, columns, tensor.Shape{m, n})
	if err != nil {
		return err
	}
	to := input
	if f.requantize {
		if to, err = spanAt(c, at+4); err != nil {
			return err
		}
		f.convert(r, to)
	}
	put, err := r.write(c, f.out, tensor.Shape{m, n}, limitsFor(f.out))
	if err != nil {
		return err
	}
	if m*n > 0 {
		a, free, err := floatsOf(c, 0)
		if err != nil {
			return err
		}
		defer free()
		b := make([]float32, len(codes))
		for i, v := range codes {
			b[i] = float32(v)
		}
		sums, row := make([]int32, m*n), make([]float32, n)
		multiply(sums, a, b, m, k, n, c.Workers())
		for i := range m {
			put(i*n, sums[i*n:][:n], row)
		}
	}
	switch {
	case f.out == tensor.Float32 || f.out == tensor.BFloat16:
		return nil
	case f.out == tensor.QInt32:
		return setSpans(c, input, columns, c.In(at+2).Shape())
	case !f.requantize:
		// TensorFlow takes the last two inputs, which are those of the second matrix here
		if to, err = spanAt(c, at+2); err != nil {
			return err
		}
	}
	return setSpan(c, 1, f.range8(to))
}

// range8 returns the range of a result of 8-bit codes.
func (f *listedMatMul) range8(to span) span {
	switch {
	case f.fromLeast[1]:
		return to
	case f.out == tensor.QUint8:
		return span{0, to.widest()}
	}
	return span{-to.widest(), to.widest()}
}

// scaled returns the conversion of the sums to floats.
func (f *listedMatMul) scaled(c *engine.Call, codes []int8, input span, columns []span, out tensor.Shape) (*scaled, error) {
	n := out[1]
	steps, width := float32(symmetric(c.In(0).DType())), input.widest()
	if f.fromLeast[0] {
		width = input.most - input.least
	}
	r := &scaled{by: []float32{1}, activate: f.activate, inverse: 1}
	perFloat := make([]float32, len(columns)) // the sum, an integer, that 1.0 is, for each column or one for all
	by := make([]float32, len(columns))
	for i, b := range columns {
		perFloat[i] = float32(steps*127) / float32(width*b.widest())
		by[i] = float32(float64(width)/float64(steps)) * float32(float64(b.widest())/127)
	}
	if f.out != tensor.QInt32 {
		r.by = by
	}
	of := func(k int) float32 { return perFloat[min(k, len(perFloat)-1)] }
	var err error
	r.bias, err = biasOf(c, n, func(k int, v float32) float32 {
		if f.fromLeast[0] {
			return v / of(k)
		}
		return v * perFloat[0] // the first column's for all, as in TensorFlow
	})
	if err != nil {
		return nil, err
	}
	if f.fromLeast[0] && f.bias != tensor.QInt32 {
		// codes begin at the least float: its products with a column's sum of codes are part of the bias
		zero, bias := float32(steps*input.least)/width, r.bias
		r.bias = make([]float32, n)
		for j := range r.bias {
			var sum int32
			for i := j; i < len(codes); i += n {
				sum += int32(codes[i])
			}
			r.bias[j] = bias[j] + float32(float32(sum)*zero)/of(j)
		}
	}
	if f.add {
		t := c.In(3)
		if !t.Shape().Equal(out) {
			return nil, fmt.Errorf("a summand of shape %v for an output of shape %v", t.Shape(), out)
		}
		if t.DType() == tensor.BFloat16 {
			v := tensor.Values[tensor.BF16](t)
			r.summand = func(i int) float32 { return v[i].Float() }
		} else {
			v := tensor.Values[float32](t)
			r.summand = func(i int) float32 { return v[i] }
		}
	}
	return r, nil
}

// convert makes codes of the range to from floats.
func (f *listedMatMul) convert(r *scaled, to span) {
	steps := float32(symmetric(f.out))
	if !f.fromLeast[1] {
		r.inverse = steps / to.widest()
		return
	}
	r.inverse = steps / (to.most - to.least)
	r.offset, r.zero = true, float32(steps*-to.least)/(to.most-to.least)
}

// transposed returns a matrix of n rows of k codes as k rows.
func transposed(codes []int8, n, k int) []int8 {
	out := make([]int8, len(codes))
	for i := range n {
		for j := range k {
			out[j*n+i] = codes[i*k+j]
		}
	}
	return out
}

// listedKernels returns the kernels of ops whose steps are listed.
func listedKernels() []engine.Kernel {
	factors := []tensor.DType{tensor.QUint8, tensor.QInt8}
	floats := []tensor.DType{tensor.Float32, tensor.BFloat16}
	list := []engine.Kernel{{Op: "_QuantizedMatMul", Prepare: prepareListedMatMul, Precision: engine.Accumulated, Types: engine.Types{
		"T1": factors, "T2": {tensor.QInt8}, "Tbias": append([]tensor.DType{tensor.QInt32}, floats...), "U": floats,
		"Tout": append([]tensor.DType{tensor.QInt32, tensor.QUint8, tensor.QInt8}, floats...),
	}}}
	for _, kind := range strings.Fields("Conv2D DepthwiseConv2D") {
		list = append(list, engine.Kernel{Op: "_FusedQuantized" + kind, Prepare: prepareFusedConv, Types: engine.Types{
			"Tinput": factors, "Tfilter": {tensor.QInt8}, "Tbias": {tensor.Float32, tensor.QInt32},
			"Tsummand": {tensor.Float32, tensor.QInt32, tensor.QUint8, tensor.QInt8}, "out_type": {tensor.QInt32, tensor.QUint8, tensor.QInt8},
		}})
	}
	return list
}
