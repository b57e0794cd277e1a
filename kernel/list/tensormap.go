package list

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// tensorMap maps tensors to values. It never changes; an insertion makes a new
// map.
type tensorMap struct {
	keys   []*tensor.Tensor // in the order of insertion
	values map[string]engine.Value
}

// VariantName returns TensorFlow's name of the variant.
func (*tensorMap) VariantName() string { return "tensorflow::TensorMap" }

// Escape keeps the values after the call.
func (m *tensorMap) Escape() {
	for k, v := range m.values {
		if kept := v.Keep(); !v.Kept() {
			m.values[k] = kept
		}
	}
}

// Free releases the values.
func (m *tensorMap) Free(a *engine.Arena) {
	for _, v := range m.values {
		a.Release(v)
	}
}

// tensorMaps has the kernels of tensor maps.
var tensorMaps = []engine.Kernel{
	{Op: "EmptyTensorMap", Run: func(c *engine.Call) error { c.SetObject(0, &tensorMap{}); return nil }},
	{Op: "TensorMapSize", Run: mapSize},
	{Op: "TensorMapHasKey", Run: mapHasKey},
	{Op: "TensorMapLookup", Run: mapLookup},
	{Op: "TensorMapInsert", Run: mapInsert},
	{Op: "TensorMapErase", Run: mapErase},
	{Op: "TensorMapStackKeys", Run: mapStackKeys},
}

// mapKey returns a tensor's type, shape and elements as a string.
func mapKey(c *engine.Call, t *tensor.Tensor) (string, error) {
	var key strings.Builder
	_, _ = fmt.Fprintf(&key, "%v%v", t.DType(), t.Shape())
	if t.DType() != tensor.String {
		key.Grow(len(t.Bytes()))
		key.Write(t.Bytes())
		return key.String(), nil
	}
	var size int64
	for _, s := range t.Strings() {
		size += int64(len(s)) + binary.MaxVarintLen64
	}
	if err := c.Afford(size); err != nil {
		return "", err
	}
	key.Grow(int(size))
	var length [binary.MaxVarintLen64]byte
	l := looks{ctx: c.Context()}
	for _, s := range t.Strings() {
		if err := l.at(len(s)); err != nil {
			return "", err
		}
		key.Write(binary.AppendUvarint(length[:0], uint64(len(s))))
		key.WriteString(s)
	}
	return key.String(), nil
}

// looks checks a context every now and then in a loop over texts or entries. It returns an
// error instead of leaving the kernel as Call.Check does.
type looks struct {
	ctx  context.Context
	read int
}

// at counts n bytes. It returns the cause if the context has ended.
func (l *looks) at(n int) error {
	if l.read += n + 256; l.read < 1<<19 {
		return nil
	}
	l.read = 0
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}

// mapInput returns the map in input 0 and, if there are more inputs, the key in
// input 1.
func mapInput(c *engine.Call, n int) (m *tensorMap, key string, err error) {
	if c.NumIn() != n {
		return nil, "", fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	if m, err = engine.Object[*tensorMap](c, 0); err != nil {
		return nil, "", err
	}
	if n > 1 {
		if c.In(1) == nil {
			return nil, "", fmt.Errorf("the key is no tensor")
		}
		key, err = mapKey(c, c.In(1))
	}
	return m, key, err
}

func mapSize(c *engine.Call) error {
	m, _, err := mapInput(c, 1)
	if err == nil {
		c.Set(0, tensor.Scalar(int32(len(m.keys))))
	}
	return err
}

func mapHasKey(c *engine.Call) error {
	m, key, err := mapInput(c, 2)
	if err == nil {
		_, ok := m.values[key]
		c.Set(0, tensor.Scalar(ok))
	}
	return err
}

// keyText returns a key for an error's text: its value, or its type and shape if it is long.
func keyText(t *tensor.Tensor) string {
	if t.Len() > 16 {
		return fmt.Sprintf("of type %v and shape %v", t.DType(), t.Shape())
	}
	return t.String()
}

func mapLookup(c *engine.Call) error {
	m, key, err := mapInput(c, 2)
	if err != nil {
		return err
	}
	v, ok := m.values[key]
	if !ok {
		return fmt.Errorf("the map has no key %s", keyText(c.In(1)))
	}
	if d := c.Attrs().Type("value_dtype", v.DType()); d != v.DType() {
		return fmt.Errorf("the value is %v, not %v", v.DType(), d)
	}
	c.Refs().Output(0, c.Refs().Retain(v))
	return nil
}

// copyOf returns a map without one of the entries, with one more reference to
// each value.
func (m *tensorMap) copyOf(c *engine.Call, without string) (*tensorMap, error) {
	out := &tensorMap{keys: slices.Clone(m.keys), values: make(map[string]engine.Value, len(m.values)+1)}
	l := looks{ctx: c.Context()}
	for k, v := range m.values {
		if err := l.at(len(k)); err != nil {
			return nil, err
		}
		if k != without {
			out.values[k] = v
		}
	}
	for k, v := range out.values {
		out.values[k] = c.Refs().Retain(v)
	}
	return out, nil
}

func mapInsert(c *engine.Call) error {
	m, key, err := mapInput(c, 3)
	if err != nil {
		return err
	}
	out, err := m.copyOf(c, key)
	if err != nil {
		return err
	}
	if _, ok := m.values[key]; !ok {
		out.keys = append(out.keys, c.In(1).Clone())
	}
	out.values[key] = c.Refs().Share(2)
	c.SetObject(0, out)
	return nil
}

func mapErase(c *engine.Call) error {
	m, key, err := mapInput(c, 2)
	if err != nil {
		return err
	}
	if _, ok := m.values[key]; !ok {
		return fmt.Errorf("the map has no key %s", keyText(c.In(1)))
	}
	at := 0
	for ; at < len(m.keys); at++ {
		t := m.keys[at]
		if t.DType() != c.In(1).DType() || !t.Shape().Equal(c.In(1).Shape()) {
			continue
		}
		k, err := mapKey(c, t)
		if err != nil {
			return err
		}
		if k == key {
			break
		}
		if c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
	}
	out, err := m.copyOf(c, key)
	if err != nil {
		return err
	}
	out.keys = slices.Delete(out.keys, at, min(at+1, len(out.keys)))
	c.SetObject(0, out)
	return nil
}

// mapStackKeys returns all keys, which must be of one shape. TensorFlow leaves
// the order open; here it is the order of insertion.
func mapStackKeys(c *engine.Call) error {
	m, _, err := mapInput(c, 1)
	if err != nil {
		return err
	}
	if len(m.keys) == 0 {
		return fmt.Errorf("the map is empty, its keys have no shape")
	}
	first := m.keys[0]
	if d := c.Attrs().Type("key_dtype", first.DType()); d != first.DType() {
		return fmt.Errorf("the keys are %v, not %v", first.DType(), d)
	}
	out, err := c.Alloc(0, first.DType(), append(tensor.Shape{len(m.keys)}, first.Shape()...))
	if err != nil {
		return err
	}
	l := looks{ctx: c.Context()}
	for i, k := range m.keys {
		if err := l.at(len(k.Bytes()) + 16*len(k.Strings())); err != nil {
			return err
		}
		if k.DType() != first.DType() || !k.Shape().Equal(first.Shape()) {
			return fmt.Errorf("the keys are %v%v and %v%v", first.DType(), first.Shape(), k.DType(), k.Shape())
		}
		if k.DType() == tensor.String {
			copy(out.Strings()[i*k.Len():], k.Strings())
		} else {
			copy(out.Bytes()[i*len(k.Bytes()):], k.Bytes())
		}
	}
	return nil
}
