package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// partOf returns the type of the parts of complex numbers of type d.
func partOf(d tensor.DType) tensor.DType {
	if d == tensor.Complex128 {
		return tensor.Float64
	}
	return tensor.Float32
}

// Real returns the real parts of complex numbers; x itself if it is real.
func Real(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() || !v.DType().IsComplex() {
		return Identity(s, v)
	}
	return s.Emit1("Real", graph.Attrs{graph.Type("Tout", partOf(v.DType()))}, v)
}

// Imag returns the imaginary parts of complex numbers; zeros if x is real.
func Imag(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() || !v.DType().IsComplex() {
		return ZerosLike(s, v)
	}
	return s.Emit1("Imag", graph.Attrs{graph.Type("Tout", partOf(v.DType()))}, v)
}

// Angle returns the arguments of complex numbers, in radians from -π to π.
func Angle(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("Angle", graph.Attrs{graph.Type("Tout", partOf(v.DType()))}, v)
}

// Complex makes complex numbers of their parts, of type float32 or float64.
func Complex(s *Scope, re, im Input) *Value {
	a, b := Const(s, re), Const(s, im)
	if !s.alive() {
		return s.failed()
	}
	d := tensor.Complex64
	if a.DType() == tensor.Float64 {
		d = tensor.Complex128
	}
	return s.Emit1("Complex", graph.Attrs{graph.Type("Tout", d)}, a, b)
}
