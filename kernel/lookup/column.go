package lookup

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/cairnml/cairn/tensor"
)

// column has the keys or the values of a table, row after row.
type column struct {
	dtype tensor.DType
	shape tensor.Shape // of a row
	width int          // elements of a row
	bytes []byte
	strs  []string
}

// newColumn returns an empty column of rows of a shape.
func newColumn(d tensor.DType, shape tensor.Shape) (column, error) {
	n, err := shape.NumElements()
	return column{dtype: d, shape: shape, width: n}, err
}

// size returns the size in bytes of a row, if it is fixed.
func (c *column) size() int { return c.width * c.dtype.Size() }

// add appends row i of t.
func (c *column) add(t *tensor.Tensor, i int) {
	if c.dtype == tensor.String {
		c.strs = append(c.strs, t.Strings()[i*c.width:(i+1)*c.width]...)
		return
	}
	n := c.size()
	c.bytes = append(c.bytes, t.Bytes()[i*n:(i+1)*n]...)
}

// addRow appends row k of another column of the type and shape.
func (c *column) addRow(from *column, k int) {
	if c.dtype == tensor.String {
		c.strs = append(c.strs, from.strs[k*c.width:(k+1)*c.width]...)
		return
	}
	n := c.size()
	c.bytes = append(c.bytes, from.bytes[k*n:(k+1)*n]...)
}

// empty returns a column of the type and shape without rows.
func (c *column) empty() column {
	return column{dtype: c.dtype, shape: c.shape, width: c.width}
}

// set sets row k to row i of t.
func (c *column) set(k int, t *tensor.Tensor, i int) {
	if c.dtype == tensor.String {
		copy(c.strs[k*c.width:(k+1)*c.width], t.Strings()[i*c.width:])
		return
	}
	n := c.size()
	copy(c.bytes[k*n:(k+1)*n], t.Bytes()[i*n:])
}

// same reports whether row k equals row i of t.
func (c *column) same(k int, t *tensor.Tensor, i int) bool {
	if c.dtype == tensor.String {
		for j := range c.width {
			if c.strs[k*c.width+j] != t.Strings()[i*c.width+j] {
				return false
			}
		}
		return true
	}
	n := c.size()
	return bytes.Equal(c.bytes[k*n:(k+1)*n], t.Bytes()[i*n:(i+1)*n])
}

// cut removes the rows from n on.
func (c *column) cut(n int) {
	if c.dtype == tensor.String {
		clear(c.strs[n*c.width:])
		c.strs = c.strs[:n*c.width]
		return
	}
	c.bytes = c.bytes[:n*c.size()]
}

// drop removes row k, which the last of n rows replaces.
func (c *column) drop(k, n int) {
	if c.dtype == tensor.String {
		copy(c.strs[k*c.width:(k+1)*c.width], c.strs[(n-1)*c.width:])
		c.strs = c.strs[:(n-1)*c.width]
		return
	}
	size := c.size()
	copy(c.bytes[k*size:(k+1)*size], c.bytes[(n-1)*size:])
	c.bytes = c.bytes[:(n-1)*size]
}

// copyTo writes row k to row i of t.
func (c *column) copyTo(t *tensor.Tensor, i, k int) {
	if c.dtype == tensor.String {
		copy(t.Strings()[i*c.width:(i+1)*c.width], c.strs[k*c.width:])
		return
	}
	n := c.size()
	copy(t.Bytes()[i*n:(i+1)*n], c.bytes[k*n:])
}

// keyOf returns row i of t, whose rows have so many elements, as a map's key.
// It may use the memory of buf, and of t. Different rows have different keys:
// lengths separate the strings of a row.
func keyOf(buf []byte, t *tensor.Tensor, i, width int) []byte {
	if t.DType() != tensor.String {
		n := width * t.DType().Size()
		return t.Bytes()[i*n : (i+1)*n]
	}
	row := t.Strings()[i*width : (i+1)*width]
	if width == 1 {
		return unsafe.Slice(unsafe.StringData(row[0]), len(row[0]))
	}
	buf = slices.Grow(buf[:0], keySize(t, i, width))
	for _, s := range row {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	return buf
}

// keySize returns the largest number of bytes of row i of t as a map's key.
func keySize(t *tensor.Tensor, i, width int) int {
	if t.DType() != tensor.String {
		return width * t.DType().Size()
	}
	n := 0
	for _, s := range t.Strings()[i*width : (i+1)*width] {
		n += len(s) + binary.MaxVarintLen64
	}
	return n
}
