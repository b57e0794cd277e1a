package pb

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Memory returns about how many bytes an encoded message takes once it is
// decoded into one of m's type, strings and bytes left out, which share the
// encoded ones' memory. An empty message inside another takes two bytes encoded
// and a hundred decoded, so a reader of foreign files asks this first. What
// can't be decoded isn't counted; nothing is allocated.
func Memory(m Message, b []byte) int64 {
	t := reflect.TypeOf(m).Elem()
	return int64(t.Size()) + memoryOf(t, b, 0)
}

// fieldCost is what one occurrence of a field takes.
type fieldCost struct {
	size    int64        // of the message or the element with its place in a list
	message reflect.Type // of what is inside; nil for a scalar
	packed  int64        // size of an element of a list of numbers
}

var fieldCosts sync.Map // of reflect.Type to []fieldCost, by number

const pointerSize = 8

func costsOf(t reflect.Type) []fieldCost {
	if c, ok := fieldCosts.Load(t); ok {
		return c.([]fieldCost)
	}
	var out []fieldCost
	for _, f := range fieldsOf(t) {
		ft := t.Field(f.index).Type
		for len(out) <= f.num {
			out = append(out, fieldCost{})
		}
		c := &out[f.num]
		elem := ft
		if f.list {
			elem = ft.Elem()
		}
		switch {
		case f.kind == "message":
			if l := lazyOf(reflect.New(elem).Elem()); l != nil {
				c.message = l.inside()
			} else {
				c.message = elem.Elem()
			}
			c.size = int64(c.message.Size()) + pointerSize
		case f.list:
			c.size = int64(elem.Size())
			if elem.Kind() != reflect.String && elem.Kind() != reflect.Slice {
				c.packed = c.size
			}
		}
	}
	fieldCosts.Store(t, out)
	return out
}

func memoryOf(t reflect.Type, b []byte, depth int) int64 {
	if depth > maxDepth {
		return 0
	}
	costs := costsOf(t)
	var total int64
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return total
		}
		b = b[n:]
		var c fieldCost
		if int(num) < len(costs) {
			c = costs[num]
		}
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return total
			}
			total += c.size
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return total
		}
		b = b[n:]
		switch {
		case c.message != nil:
			total += c.size + memoryOf(c.message, v, depth+1)
		case c.packed > 0:
			total += c.packed * int64(countVarints(v)) // fixed sizes are counted too high at most
		default:
			total += c.size
		}
	}
	return total
}
