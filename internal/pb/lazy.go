package pb

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
)

// Lazy is a message inside another one that is decoded when it is asked for: a library
// holds many functions of which a program needs a few. The zero Lazy is an empty
// message.
type Lazy[M any] struct {
	message *M
	encoded []byte // if message is nil
	sorted  bool   // encoded has the canonical form
}

// LazyOf returns m as a lazy message.
func LazyOf[M any](m *M) Lazy[M] { return Lazy[M]{message: m} }

// Get returns the message, decoded anew by each call unless [LazyOf] made it.
func (l *Lazy[M]) Get() (*M, error) {
	if l.message != nil {
		return l.message, nil
	}
	m := new(M)
	return m, any(m).(Message).Unmarshal(l.encoded)
}

// Encoded returns the encoded message.
func (l *Lazy[M]) Encoded() []byte {
	if l.message != nil {
		return any(l.message).(Message).Marshal()
	}
	return l.encoded
}

// more adds a later occurrence of the field: the concatenation of encoded messages
// encodes their merger.
func (l *Lazy[M]) more(b []byte) {
	l.sorted = false
	if l.encoded == nil {
		l.encoded = b[:len(b):len(b)]
		return
	}
	l.encoded = append(l.encoded, b...)
}

func (l *Lazy[M]) size(s *sizes) int {
	if l.message != nil {
		return any(l.message).(Message).size(s)
	}
	return len(l.encoded)
}

func (l *Lazy[M]) append(b []byte, s *sizes) []byte {
	if l.message != nil {
		return any(l.message).(Message).append(b, s)
	}
	return append(b, l.encoded...)
}

// lazy is the interface that the text format and [Memory] use for a field that is decoded
// lazily.
type lazy interface {
	inside() reflect.Type      // of the message
	decoded() (Message, error) // as Get
	begin() reflect.Value      // empties it and returns the message, to be filled
	encode(Message)            // makes it that message, encoded
}

// lazyOf returns the lazy message that a field's value is, by itself or by a pointer; of a
// nil pointer a new one. It returns nil for other fields.
func lazyOf(x reflect.Value) lazy {
	if x.Kind() != reflect.Pointer {
		x = x.Addr()
	}
	l, _ := x.Interface().(lazy)
	if l != nil && x.IsNil() {
		x.Set(reflect.New(x.Type().Elem()))
		l = x.Interface().(lazy)
	}
	return l
}

func (l *Lazy[M]) inside() reflect.Type { return reflect.TypeFor[M]() }

func (l *Lazy[M]) decoded() (Message, error) {
	m, err := l.Get()
	return any(m).(Message), err
}

func (l *Lazy[M]) begin() reflect.Value {
	*l = LazyOf(new(M))
	return reflect.ValueOf(l.message).Elem()
}

func (l *Lazy[M]) encode(m Message) { *l = Lazy[M]{encoded: m.Marshal()} }

// StringAt returns the string to which a path of field numbers leads in an encoded
// message, the last one if there are several, "" if there is none. Nothing else is
// decoded.
func StringAt(b []byte, path ...protowire.Number) string {
	for _, number := range path {
		var found []byte
		for len(b) > 0 {
			num, typ, n := protowire.ConsumeTag(b)
			if n < 0 {
				return ""
			}
			size := protowire.ConsumeFieldValue(num, typ, b[n:])
			if size < 0 {
				return ""
			}
			if num == number && typ == protowire.BytesType {
				found, _ = protowire.ConsumeBytes(b[n:])
			}
			b = b[n+size:]
		}
		b = found
	}
	return view(b)
}
