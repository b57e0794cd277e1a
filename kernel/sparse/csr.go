package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of sparse matrices that are variants: conversions, components, SparseMatrixNNZ,
// SparseMatrixTranspose, SparseMatrixMatMul and SparseMatrixSparseMatMul. csrKernels lists them.
// SparseMatrixSparseCholesky is in cholesky.go.

// compressed is a sparse matrix stored row by row, or a batch of such matrices.
// It is TensorFlow's CSRSparseMatrix. It shares no memory with a call, and
// never changes.
type compressed struct {
	shape  []int64 // the size of a batch, if there is one, rows and columns
	begins []int32 // index of each matrix's first value, then the number of all values
	rows   []int32 // for each matrix, index of each row's first value in the matrix, then its number of values
	cols   []int32 // the column of each value
	values *tensor.Tensor
}

// VariantName returns TensorFlow's name of the variant.
func (*compressed) VariantName() string { return "tensorflow::CSRSparseMatrix" }

// Escape does nothing, because the matrix doesn't use the call's memory.
func (*compressed) Escape() {}

// Free does nothing, because the matrix doesn't use the call's memory.
func (*compressed) Free(*engine.Arena) {}

// Unchanging marks the matrix as one that no op changes.
func (*compressed) Unchanging() {}

// batch returns the number of matrices.
func (m *compressed) batch() int { return len(m.begins) - 1 }

// size returns the numbers of rows and columns.
func (m *compressed) size() (rows, cols int) {
	n := len(m.shape)
	return int(m.shape[n-2]), int(m.shape[n-1])
}

// ofSize returns m's shape with other rows and columns.
func (m *compressed) ofSize(rows, cols int) []int64 {
	return append(slices.Clone(m.shape[:len(m.shape)-2]), int64(rows), int64(cols))
}

// csrPart is one matrix with values of type T.
type csrPart[T any] struct {
	ptr, cols []int32
	values    []T
	width     int // the number of columns
}

// row returns the columns and values of row i.
func (p *csrPart[T]) row(i int) ([]int32, []T) {
	lo, hi := p.ptr[i], p.ptr[i+1]
	return p.cols[lo:hi], p.values[lo:hi]
}

// partOf returns matrix i of m.
func partOf[T tensor.Element](m *compressed, i int) csrPart[T] {
	rows, cols := m.size()
	lo, hi := m.begins[i], m.begins[i+1]
	return csrPart[T]{m.rows[i*(rows+1) : (i+1)*(rows+1)], m.cols[lo:hi], tensor.Values[T](m.values)[lo:hi], cols}
}

// compress makes a matrix of values and their indices: n rows of len(shape).
// The values of a row keep their order. Matrices and rows must be in order.
// Like TensorFlow, compress doesn't check this.
func compress(c *engine.Call, at []int64, values *tensor.Tensor, shape []int64) (*compressed, error) {
	rank, n := len(shape), values.Len()
	batch, rows, cols := int64(1), shape[rank-2], shape[rank-1]
	if rank == 3 {
		batch = shape[0]
	}
	if rows > math.MaxInt32-1 || cols > math.MaxInt32 || batch > math.MaxInt32 || n > math.MaxInt32 {
		return nil, fmt.Errorf("a matrix of shape %v is too large for indices of int32", shape)
	}
	if hi := batch * (rows + 1); hi > math.MaxInt/8 {
		return nil, fmt.Errorf("a matrix of shape %v is too large", shape)
	} else if err := c.Afford(4 * (hi + batch + int64(n))); err != nil {
		return nil, err
	}
	m := &compressed{shape: slices.Clone(shape), begins: make([]int32, batch+1), rows: make([]int32, batch*(rows+1)), cols: make([]int32, n), values: values}
	for i := range n {
		ix := at[i*rank : (i+1)*rank]
		for d, k := range ix {
			if k < 0 || k >= shape[d] {
				return nil, fmt.Errorf("the indices %v are outside of the shape %v", ix, shape)
			}
		}
		b := int64(0)
		if rank == 3 {
			b = ix[0]
		}
		m.begins[b+1]++
		m.rows[b*(rows+1)+ix[rank-2]+1]++
		m.cols[i] = int32(ix[rank-1])
	}
	accumulate(m.begins)
	for b := range int(batch) {
		accumulate(m.rows[b*int(rows+1) : (b+1)*int(rows+1)])
	}
	return m, nil
}

// accumulate replaces numbers by their running sums.
func accumulate(v []int32) {
	for i := 1; i < len(v); i++ {
		v[i] += v[i-1]
	}
}

// matrices returns the matrices in the listed inputs, whose values must be of
// type d.
func matrices(c *engine.Call, d tensor.DType, in ...int) ([]*compressed, error) {
	out := make([]*compressed, len(in))
	for k, i := range in {
		m, err := engine.Object[*compressed](c, i)
		if err != nil {
			return nil, err
		}
		if m.values.DType() != d {
			return nil, fmt.Errorf("input %d is a matrix of %v, not %v", i, m.values.DType(), d)
		}
		out[k] = m
	}
	return out, nil
}

// csrKernel returns the kernel of an op on matrices, chosen by the type in an
// attribute.
func csrKernel(op, attr string, t elementwise.ByType, p engine.Precision) engine.Kernel {
	return engine.Kernel{Op: op, Precision: p, Types: engine.Types{attr: t.Types()}, Prepare: func(n *engine.Node) (func(*engine.Call) error, error) {
		f, err := engine.ByType[elementwise.Func](t).Of(n.Attrs.Type(attr, tensor.Invalid))
		return f, err
	}}
}

// fields has the types of the values of matrices.
type fields interface {
	float32 | float64 | complex64 | complex128
	tensor.Element
}

// conjugate returns the conjugate of x, which is x for real numbers.
func conjugate[T fields](x T) T {
	switch x := any(x).(type) {
	case complex64:
		return any(complex(real(x), -imag(x))).(T)
	case complex128:
		return any(complex(real(x), -imag(x))).(T)
	}
	return x
}

// csrKernels returns the kernels of sparse matrices that are variants.
func csrKernels() []engine.Kernel {
	return []engine.Kernel{
		csrKernel("SparseTensorToCSRSparseMatrix", "T", csrTypes(sparseToCSR), engine.Exact),
		csrKernel("DenseToCSRSparseMatrix", "T", csrTypes(denseToCSR), engine.Exact),
		csrKernel("CSRSparseMatrixToSparseTensor", "type", csrTypes(csrToSparse), engine.Exact),
		csrKernel("CSRSparseMatrixToDense", "type", csrTypes(csrToDense), engine.Exact),
		csrKernel("CSRSparseMatrixComponents", "type", csrTypes(csrComponents), engine.Exact),
		{Op: "SparseMatrixNNZ", Run: csrCount},
		csrKernel("SparseMatrixTranspose", "type", elementwise.ByType{tensor.Float32: csrTranspose[float32], tensor.Float64: csrTranspose[float64],
			tensor.Complex64: csrTranspose[complex64], tensor.Complex128: csrTranspose[complex128]}, engine.Exact),
		csrKernel("SparseMatrixMatMul", "T", elementwise.ByType{tensor.Float32: csrMatMul[float32], tensor.Float64: csrMatMul[float64],
			tensor.Complex64: csrMatMul[complex64], tensor.Complex128: csrMatMul[complex128]}, engine.Accumulated),
		csrKernel("SparseMatrixSparseMatMul", "type", elementwise.ByType{tensor.Float32: csrProduct[float32], tensor.Float64: csrProduct[float64],
			tensor.Complex64: csrProduct[complex64], tensor.Complex128: csrProduct[complex128]}, engine.Accumulated),
		csrKernel("SparseMatrixSparseCholesky", "type", elementwise.ByType{tensor.Float32: csrCholesky[float32], tensor.Float64: csrCholesky[float64],
			tensor.Complex64: csrCholesky[complex64], tensor.Complex128: csrCholesky[complex128]}, engine.Accumulated),
	}
}

// csrTypes returns a table with f for all types of matrices.
func csrTypes(f func(c *engine.Call, d tensor.DType) error) elementwise.ByType {
	t := elementwise.ByType{}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128} {
		t[d] = func(c *engine.Call) error { return f(c, d) }
	}
	return t
}

// sparseToCSR makes a matrix of a sparse tensor in inputs 0 to 2.
func sparseToCSR(c *engine.Call, d tensor.DType) error {
	if err := c.Need(3); err != nil {
		return err
	}
	m, err := input(c, 0, 1, 2)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	if m.rank != 2 && m.rank != 3 || m.values.DType() != d {
		return fmt.Errorf("takes a sparse tensor of 2 or 3 dimensions of %v, not %v of %v", d, m.shape, m.values.DType())
	}
	out, err := compress(c, m.at, m.values.Clone(), m.shape)
	if err == nil {
		c.SetObject(0, out)
	}
	return err
}

// denseToCSR makes a matrix of the elements of a tensor at the given indices.
func denseToCSR(c *engine.Call, d tensor.DType) error {
	if err := c.Need(2); err != nil {
		return err
	}
	x, at := c.In(0), c.In(1)
	rank := len(x.Shape())
	if rank != 2 && rank != 3 || x.DType() != d || len(at.Shape()) != 2 || at.Shape()[1] != rank {
		return fmt.Errorf("takes a tensor of 2 or 3 dimensions of %v and rows of as many indices, not %v%v and %v", d, x.DType(), x.Shape(), at.Shape())
	}
	list, err := shapes.AllInts(at, "the indices")
	if err != nil {
		return err
	}
	shape := make([]int64, rank)
	for i, n := range x.Shape() {
		shape[i] = int64(n)
	}
	n := at.Shape()[0]
	values, err := tensor.Zeros(d, n)
	if err != nil {
		return err
	}
	m, err := compress(c, list, values, shape)
	if err != nil {
		return err
	}
	strides := shapes.Strides(x.Shape())
	for i := range n {
		from := 0
		for k, s := range strides {
			from += int(list[i*rank+k]) * s
		}
		copyElements(values, x, i, from, 1)
	}
	c.SetObject(0, m)
	return nil
}

// each calls f with the matrix, the row and the index of each value.
func (m *compressed) each(f func(b, row, i int)) {
	rows, _ := m.size()
	for b := range m.batch() {
		ptr := m.rows[b*(rows+1) : (b+1)*(rows+1)]
		for r := range rows {
			for i := ptr[r]; i < ptr[r+1]; i++ {
				f(b, r, int(m.begins[b]+i))
			}
		}
	}
}

// csrToSparse returns the indices, the values and the shape of a matrix.
func csrToSparse(c *engine.Call, d tensor.DType) error {
	list, err := matrices(c, d, 0)
	if err != nil {
		return err
	}
	m := list[0]
	rank := len(m.shape)
	at := make([]int64, 0, rank*len(m.cols))
	m.each(func(b, row, i int) {
		if rank == 3 {
			at = append(at, int64(b))
		}
		at = append(at, int64(row), int64(m.cols[i]))
	})
	if err := setInts(c, 0, at, len(m.cols), rank); err != nil {
		return err
	}
	c.Set(1, m.values)
	return setInts(c, 2, slices.Clone(m.shape), rank)
}

// csrToDense returns the matrix as a tensor.
func csrToDense(c *engine.Call, d tensor.DType) error {
	list, err := matrices(c, d, 0)
	if err != nil {
		return err
	}
	m := list[0]
	shape := make(tensor.Shape, len(m.shape))
	for i, n := range m.shape {
		shape[i] = int(n)
	}
	out, err := c.AllocZero(0, d, shape)
	if err != nil {
		return err
	}
	rows, cols := m.size()
	m.each(func(b, row, i int) { copyElements(out, m.values, (b*rows+row)*cols+int(m.cols[i]), i, 1) })
	return nil
}

// csrComponents returns the parts of one matrix.
func csrComponents(c *engine.Call, d tensor.DType) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes a matrix and an index, %d inputs were given", c.NumIn())
	}
	if err := c.NeedTensors(1); err != nil {
		return err
	}
	list, err := matrices(c, d, 0)
	if err != nil {
		return err
	}
	m := list[0]
	index, err := shapes.Int(c.In(1), "the index")
	if err != nil {
		return err
	}
	if index < 0 || index >= int64(m.batch()) {
		return fmt.Errorf("there is no matrix %d among %d", index, m.batch())
	}
	rows, _ := m.size()
	lo, hi := int(m.begins[index]), int(m.begins[index+1])
	for i, v := range [][]int32{m.rows[int(index)*(rows+1) : int(index+1)*(rows+1)], m.cols[lo:hi]} {
		out, err := c.Alloc(i, tensor.Int32, tensor.Shape{len(v)})
		if err != nil {
			return err
		}
		copy(tensor.Values[int32](out), v)
	}
	out, err := c.Alloc(2, d, tensor.Shape{hi - lo})
	if err == nil {
		copyElements(out, m.values, 0, lo, hi-lo)
	}
	return err
}

// csrCount returns the number of values of each matrix.
func csrCount(c *engine.Call) error {
	m, err := engine.Object[*compressed](c, 0)
	if err != nil {
		return err
	}
	shape := tensor.Shape{}
	if len(m.shape) == 3 {
		shape = tensor.Shape{m.batch()}
	}
	out, err := c.Alloc(0, tensor.Int32, shape)
	if err != nil {
		return err
	}
	for i := range tensor.Values[int32](out) {
		tensor.Values[int32](out)[i] = m.begins[i+1] - m.begins[i]
	}
	return nil
}

// orient returns m, or its transpose, or the conjugate of either.
func orient[T fields](c *engine.Call, m *compressed, transpose, conj bool) (*compressed, error) {
	if !transpose && !conj {
		return m, nil
	}
	values, err := tensor.Zeros(m.values.DType(), m.values.Len())
	if err != nil {
		return nil, err
	}
	dst, src := tensor.Values[T](values), tensor.Values[T](m.values)
	out := &compressed{shape: m.shape, begins: m.begins, rows: m.rows, cols: m.cols, values: values}
	if !transpose {
		for i, x := range src {
			dst[i] = conjugate(x)
		}
		return out, nil
	}
	rows, cols := m.size()
	if err := c.Afford(4 * int64(m.batch()) * int64(cols+1)); err != nil {
		return nil, err
	}
	out.shape = m.ofSize(cols, rows)
	out.rows, out.cols = make([]int32, m.batch()*(cols+1)), make([]int32, len(m.cols))
	m.each(func(b, _, i int) { out.rows[b*(cols+1)+int(m.cols[i])+1]++ })
	next := make([]int32, len(out.rows))
	for b := range m.batch() {
		accumulate(out.rows[b*(cols+1) : (b+1)*(cols+1)])
	}
	copy(next, out.rows)
	m.each(func(b, row, i int) {
		at := b*(cols+1) + int(m.cols[i])
		to := m.begins[b] + next[at]
		next[at]++
		out.cols[to], dst[to] = int32(row), src[i]
		if conj {
			dst[to] = conjugate(src[i])
		}
	})
	return out, nil
}

// csrTranspose transposes a matrix.
func csrTranspose[T fields](c *engine.Call) error {
	list, err := matrices(c, tensor.TypeOf[T](), 0)
	if err != nil {
		return err
	}
	m, err := orient[T](c, list[0], true, c.Attrs().Bool("conjugate"))
	if err == nil {
		c.SetObject(0, m)
	}
	return err
}

// transposed reports whether attributes transpose and conjugate an operand of a
// product.
func transposed(c *engine.Call, name string) (transpose, conj bool, err error) {
	transpose, conj = c.Attrs().Bool("transpose_"+name), c.Attrs().Bool("adjoint_"+name)
	if transpose && conj {
		return false, false, fmt.Errorf("one of transpose_%s and adjoint_%s may be set, not both", name, name)
	}
	return transpose || conj, conj, nil
}

// matrixAndTensor returns the matrix in input 0 of an op whose other input is a tensor.
func matrixAndTensor[T fields](c *engine.Call) (*compressed, error) {
	if c.NumIn() != 2 {
		return nil, fmt.Errorf("takes 2 inputs, %d were given", c.NumIn())
	}
	if err := c.NeedTensors(1); err != nil {
		return nil, err
	}
	list, err := matrices(c, tensor.TypeOf[T](), 0)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// csrMatMul multiplies a sparse matrix by a dense one.
func csrMatMul[T fields](c *engine.Call) error {
	a, err := matrixAndTensor[T](c)
	if err != nil {
		return err
	}
	ta, ca, err := transposed(c, "a")
	if err != nil {
		return err
	}
	tb, cb, err := transposed(c, "b")
	if err != nil {
		return err
	}
	to, co := c.Attrs().Bool("transpose_output"), c.Attrs().Bool("conjugate_output")
	b := c.In(1)
	bs := b.Shape()
	if len(bs) != len(a.shape) || b.DType() != tensor.TypeOf[T]() {
		return fmt.Errorf("takes matrices of one type and as many dimensions, not %v%v and %v%v", a.values.DType(), a.shape, b.DType(), bs)
	}
	if len(bs) == 3 && bs[0] != a.batch() {
		return fmt.Errorf("there are %d sparse matrices and %d dense ones", a.batch(), bs[0])
	}
	if a, err = orient[T](c, a, ta, ca); err != nil {
		return err
	}
	rows, inner := a.size()
	k, n := bs[len(bs)-2], bs[len(bs)-1]
	stepK, stepN, each := n, 1, k*n
	if tb {
		k, n, stepK, stepN = n, k, 1, n
	}
	if k != inner {
		return fmt.Errorf("the inner sizes are %d and %d", inner, k)
	}
	shape := append(tensor.Shape{}, bs[:len(bs)-2]...)
	outRow, outN := n, 1
	if to {
		shape, outRow, outN = append(shape, n, rows), 1, rows
	} else {
		shape = append(shape, rows, n)
	}
	out, err := c.AllocZero(0, b.DType(), shape)
	if err != nil {
		return err
	}
	dst, dense := tensor.Values[T](out), tensor.Values[T](b)
	for i := range a.batch() {
		p := partOf[T](a, i)
		y, x := dst[i*rows*n:(i+1)*rows*n], dense[i*each:(i+1)*each]
		c.Parallel(rows, float64(n)*float64(len(p.cols)+1)/float64(max(rows, 1)), func(lo, hi int) {
			pace := engine.NewPace(c)
			for r := lo; r < hi; r++ {
				cols, values := p.row(r)
				for at, v := range values {
					pace.Work(n + 1)
					from := int(cols[at]) * stepK
					for j := range n {
						w := x[from+j*stepN]
						if cb {
							w = conjugate(w)
						}
						y[r*outRow+j*outN] += v * w
					}
				}
				if co {
					for j := range n {
						y[r*outRow+j*outN] = conjugate(y[r*outRow+j*outN])
					}
				}
			}
		})
	}
	return nil
}

// csrProduct multiplies two sparse matrices. Sums that are zero stay values.
func csrProduct[T fields](c *engine.Call) error {
	list, err := matrices(c, tensor.TypeOf[T](), 0, 1)
	if err != nil {
		return err
	}
	for i, name := range []string{"a", "b"} {
		transpose, conj, err := transposed(c, name)
		if err != nil {
			return err
		}
		if list[i], err = orient[T](c, list[i], transpose, conj); err != nil {
			return err
		}
	}
	a, b := list[0], list[1]
	if len(a.shape) != len(b.shape) || a.batch() != b.batch() {
		return fmt.Errorf("takes as many matrices on both sides, not %v and %v", a.shape, b.shape)
	}
	rows, inner := a.size()
	k, n := b.size()
	if inner != k {
		return fmt.Errorf("the inner sizes are %d and %d", inner, k)
	}
	if err := c.Afford(int64(tensor.TypeOf[T]().Size()+4) * int64(n)); err != nil {
		return err
	}
	sums, seen := make([]T, n), make([]int, n) // seen is 1 + the last row that reached the column
	out := newCSR[T](c, a.ofSize(rows, n), a.batch())
	mark := 0
	var reached []int32
	pace := engine.NewPace(c)
	for i := range a.batch() {
		pa, pb := partOf[T](a, i), partOf[T](b, i)
		for r := range rows {
			mark++
			reached = reached[:0]
			cols, values := pa.row(r)
			for at, v := range values {
				bc, bv := pb.row(int(cols[at]))
				pace.Work(len(bv) + 1)
				for e, w := range bv {
					j := bc[e]
					if seen[j] != mark {
						seen[j], sums[j] = mark, 0
						reached = append(reached, j)
					}
					sums[j] += v * w
				}
			}
			slices.Sort(reached)
			for _, j := range reached {
				out.add(j, sums[j])
			}
			if err := out.endRow(); err != nil {
				return err
			}
		}
		out.endMatrix()
	}
	return out.setOutput(0)
}

// csrMaker makes a matrix row by row.
type csrMaker[T fields] struct {
	c      *engine.Call
	m      *compressed
	values []T
}

// newCSR begins a matrix of the given shape.
func newCSR[T fields](c *engine.Call, shape []int64, batch int) *csrMaker[T] {
	o := &csrMaker[T]{c: c, m: &compressed{shape: shape, begins: []int32{0}}}
	if batch > 0 {
		o.m.rows = []int32{0}
	}
	return o
}

// add appends a value to the row that isn't ended. The caller adds columns in ascending order.
func (o *csrMaker[T]) add(col int32, v T) {
	o.m.cols = append(o.m.cols, col)
	o.values = append(o.values, v)
}

// endRow ends a row, and checks that the call can afford the values so far.
func (o *csrMaker[T]) endRow() error {
	n := len(o.values)
	if n > math.MaxInt32 {
		return fmt.Errorf("the matrix has more values than int32 can count")
	}
	o.m.rows = append(o.m.rows, int32(n)-o.m.begins[len(o.m.begins)-1])
	return o.c.Afford(int64(n) * int64(tensor.TypeOf[T]().Size()+4))
}

// endMatrix ends one matrix of the batch.
func (o *csrMaker[T]) endMatrix() {
	o.m.begins = append(o.m.begins, int32(len(o.values)))
	batch := 1
	if len(o.m.shape) == 3 {
		batch = int(o.m.shape[0])
	}
	if o.m.batch() < batch {
		o.m.rows = append(o.m.rows, 0)
	}
}

// setOutput sets output i to the matrix.
func (o *csrMaker[T]) setOutput(i int) (err error) {
	if o.m.values, err = tensor.New(append([]T{}, o.values...), len(o.values)); err == nil {
		o.c.SetObject(i, o.m)
	}
	return err
}
