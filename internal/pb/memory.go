package pb

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Memory returns the approximate size of an encoded message once it is decoded
// into one of m's type, without strings and bytes, which share the encoded
// ones' memory. An empty message inside another takes two bytes encoded and a
// hundred decoded, so a reader of foreign files checks this first. Parts that
// can't be decoded aren't counted; nothing is allocated.
func Memory(m Message, b []byte) int64 {
	t := reflect.TypeOf(m).Elem()
	return int64(t.Size()) + costsOf(t).memory(b, 0)
}

// costs are the sizes of the fields of a message. Messages may contain each other,
// so the costs of each are computed when it is first met.
type costs struct {
	message reflect.Type
	once    sync.Once
	fields  []fieldCost // by number
}

// fieldCost is the memory of one occurrence of a field.
type fieldCost struct {
	size   int64  // of the message or the element with its place in a list
	inside *costs // of the message; nil for a scalar
	packed int64  // size of an element of a list of numbers
}

var known sync.Map // of reflect.Type to *costs

const pointerSize = 8

func costsOf(t reflect.Type) *costs {
	if c, ok := known.Load(t); ok {
		return c.(*costs)
	}
	c, _ := known.LoadOrStore(t, &costs{message: t})
	return c.(*costs)
}

// fill finds out about the fields.
func (c *costs) fill() {
	for _, f := range fieldsOf(c.message) {
		ft := c.message.Field(f.index).Type
		for len(c.fields) <= f.num {
			c.fields = append(c.fields, fieldCost{})
		}
		cost := &c.fields[f.num]
		elem := ft
		if f.list {
			elem = ft.Elem()
		}
		switch {
		case f.kind == "message":
			var inside reflect.Type
			if l := lazyOf(reflect.New(elem).Elem()); l != nil {
				inside = l.inside()
			} else {
				inside = elem.Elem()
			}
			cost.inside = costsOf(inside)
			cost.size = int64(inside.Size()) + pointerSize
		case f.list:
			cost.size = int64(elem.Size())
			if elem.Kind() != reflect.String && elem.Kind() != reflect.Slice {
				cost.packed = cost.size
			}
		}
	}
}

// memory returns the memory of the fields of an encoded message.
func (c *costs) memory(b []byte, depth int) int64 {
	if depth > maxDepth {
		return 0
	}
	c.once.Do(c.fill)
	var total int64
	for len(b) > 0 {
		num, typ, n := tagOf(b)
		if n < 0 {
			return total
		}
		b = b[n:]
		var cost fieldCost
		if int(num) < len(c.fields) {
			cost = c.fields[num]
		}
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return total
			}
			total += cost.size
			b = b[n:]
			continue
		}
		size, n := varintOf(b)
		if n < 0 || size > uint64(len(b)-n) {
			return total
		}
		v := b[n : n+int(size)]
		b = b[n+int(size):]
		switch {
		case cost.inside != nil:
			total += cost.size + cost.inside.memory(v, depth+1)
		case cost.packed > 0:
			total += cost.packed * int64(countVarints(v)) // fixed sizes are counted too high at most
		default:
			total += cost.size
		}
	}
	return total
}
