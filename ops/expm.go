package ops

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/tensor"
)

// pade is a Padé approximation of the exponential: the quotient of even + odd and even - odd,
// polynomials of which odd has the odd powers. b has their coefficients, that of power 0 first; the
// last one, of the highest power, is 1 and is left out. It serves matrices with a 1-norm below limit.
type pade struct {
	limit float64
	b     []float64
}

// singlePades and doublePades are the approximations that tf.linalg.expm chooses from, of single and
// of double precision. The last one also serves matrices of a larger norm, which are divided by a
// power of two.
var (
	singlePades = []pade{
		{4.258730016922831e-001, []float64{120, 60, 12}},
		{1.880152677804762e+000, []float64{30240, 15120, 3360, 420, 30}},
		{3.925724783138660, []float64{17297280, 8648640, 1995840, 277200, 25200, 1512, 56}},
	}
	doublePades = []pade{
		{1.495585217958292e-002, []float64{120, 60, 12}},
		{2.539398330063230e-001, []float64{30240, 15120, 3360, 420, 30}},
		{9.504178996162932e-001, []float64{17297280, 8648640, 1995840, 277200, 25200, 1512, 56}},
		{2.097847961257068e+000, []float64{17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90}},
		{5.371920351148152, []float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
			10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182}},
	}
)

// Expm returns the exponentials of square matrices of type float32, float64, complex64 or
// complex128. If a matrix has an infinity or a NaN, all results are NaN. It emits the ops of
// tf.linalg.expm, because TensorFlow refuses the op MatrixExponential in new graphs. The nodes differ
// in three places: there is one identity matrix for all approximations, powers that they share are
// computed once, and the result takes its shape from x.
func Expm(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	pades := singlePades
	switch d := v.DType(); d {
	case tensor.Float32, tensor.Complex64:
	case tensor.Float64, tensor.Complex128:
		pades = doublePades
	default:
		return s.Fail("Expm", fmt.Errorf("matrices of type %v have no exponential (want float32, float64, complex64 or complex128)", d))
	}
	if shape := s.shapeOf(v); shape.HasRank() {
		n := shape.Rank()
		if n < 2 {
			return s.Fail("Expm", fmt.Errorf("x has no matrices (got shape %v, want [..., n, n])", shape))
		}
		if shape.Dim(n-1) == 0 && shape.Dim(n-2) == 0 {
			return v
		}
	}
	m := ReshapeTo(s, v, Concat(s, []*Value{s.vec32(-1), StridedSlice(s, Shape(s, v), From(-2))}, 0))
	norm := StridedSlice(s, Max(s, Sum(s, Abs(s, m), -2), -1), Ellipsis(), NewAxis(), NewAxis())
	two := ConstOf(s, norm.DType(), 2)
	squarings := Maximum(s, Floor(s, Div(s, Log(s, Div(s, norm, pades[len(pades)-1].limit)), Log(s, two))), 0)

	one := ConstOf(s, m.DType(), 1)
	powers := &evenPowers{m: m, list: []*Value{Diag(s, FillTo(s, one, StridedSlice(s, Shape(s, m), To(-1))))}}
	var odd, even *Value
	for i := len(pades) - 1; i >= 0; i-- {
		p := pades[i]
		if odd == nil {
			small := &evenPowers{m: Div(s, m, Cast(s, Pow(s, two, squarings), m.DType())), list: powers.list[:1:1]}
			odd, even = p.parts(s, small)
			continue
		}
		u, v := p.parts(s, powers)
		below := Less(s, norm, p.limit)
		odd, even = Where(s, below, u, odd), Where(s, below, v, even)
	}

	finite := IsFinite(s, Max(s, norm))
	quotient := If(s, finite,
		func(s *Scope) *Value { return Solve(s, Add(s, Neg(s, odd), even), Add(s, odd, even)) },
		func(s *Scope) *Value { return FillTo(s, ConstOf(s, m.DType(), math.NaN()), Shape(s, m)) })
	most := Max(s, squarings)
	vars := While(s, []*Value{ConstOf(s, norm.DType(), 0), quotient},
		func(s *Scope, vars []*Value) *Value {
			return If(s, finite,
				func(s *Scope) *Value { return Less(s, vars[0], most) },
				func(s *Scope) *Value { return Const(s, false) })
		},
		func(s *Scope, vars []*Value) []*Value {
			i, r := vars[0], vars[1]
			return []*Value{Add(s, i, 1), Where(s, Less(s, i, squarings), MatMul(s, r, r), r)}
		})
	if len(vars) != 2 {
		return s.failed()
	}
	return ReshapeTo(s, vars[1], Shape(s, v))
}

// evenPowers are a matrix's even powers; the first one is the identity.
type evenPowers struct {
	m    *Value
	list []*Value
}

// at returns power 2k.
func (p *evenPowers) at(s *Scope, k int) *Value {
	for len(p.list) <= k {
		n := len(p.list)
		if n == 1 {
			p.list = append(p.list, MatMul(s, p.m, p.m))
		} else {
			p.list = append(p.list, MatMul(s, p.list[n-1], p.list[1]))
		}
	}
	return p.list[k]
}

// parts returns the polynomial of odd powers and that of even powers.
func (p *pade) parts(s *Scope, m *evenPowers) (odd, even *Value) {
	// sum adds the terms of powers 2·first+odd down to 2·last+odd, divided by power 2·lower+odd.
	sum := func(total *Value, first, last, odd, lower int) *Value {
		for k := first; k >= last; k-- {
			term := Mul(s, p.b[2*k+odd], m.at(s, k-lower))
			if total != nil {
				term = Add(s, total, term)
			}
			total = term
		}
		return total
	}
	top := len(p.b) / 2
	if top < 6 {
		return MatMul(s, m.m, sum(m.at(s, top), top-1, 0, 1, 0)), sum(nil, top, 0, 0, 0)
	}
	// Terms from power 8 on are a product with power 6, so that higher powers aren't needed.
	odd = MatMul(s, m.at(s, 3), sum(m.at(s, 3), 5, 4, 1, 3))
	even = MatMul(s, m.at(s, 3), sum(nil, 6, 4, 0, 3))
	return MatMul(s, m.m, sum(odd, 3, 0, 1, 0)), sum(even, 3, 0, 0, 0)
}
