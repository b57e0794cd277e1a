package tensor

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		n    int
		says string
	}{
		{Shape{}, 1, ""}, {Shape{2, 3}, 6, ""}, {Shape{0, 5}, 0, ""}, {Shape{-1}, 0, "negative"},
		{Shape{math.MaxInt, 2}, 0, "more elements"}, {Shape{0, math.MaxInt, 2}, 0, "more elements"},
		{make(Shape, MaxRank), 0, ""}, {make(Shape, MaxRank+1), 0, "dimensions"},
	} {
		n, err := c.s.NumElements()
		if n != c.n || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %d, %v", c.s, n, err)
		}
	}
	if s := (Shape{2, -1, 0}).String(); s != "[2,?,0]" {
		t.Error(s)
	}
	if !(Shape{-1, 3}).Accepts(Shape{7, 3}) || (Shape{-1, 3}).Accepts(Shape{7, 4}) || (Shape{-1}).Accepts(Shape{}) {
		t.Error("Accepts")
	}
	if (Shape{-1}).Known() || !(Shape{1}).Known() {
		t.Error("Known")
	}
}

func TestTypesHaveTensorFlowsNumbersAndNames(t *testing.T) {
	for name, n := range map[string]DType{
		"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9, "bool": 10,
		"qint8": 11, "quint8": 12, "qint32": 13, "bfloat16": 14, "qint16": 15, "quint16": 16, "uint16": 17, "complex128": 18, "float16": 19,
		"resource": 20, "variant": 21, "uint32": 22, "uint64": 23, "float8_e5m2": 24, "float8_e4m3fn": 25, "float8_e4m3fnuz": 26,
		"float8_e4m3b11fnuz": 27, "float8_e5m2fnuz": 28, "int4": 29, "uint4": 30, "int2": 31, "uint2": 32, "float4_e2m1fn": 33, "half": 19,
	} {
		d, err := ParseDType(name)
		if err != nil || d != n || name != "half" && d.String() != name {
			t.Errorf("%s: %d, %v", name, d, err)
		}
	}
	if len(DTypes()) != 33 {
		t.Errorf("%d types", len(DTypes()))
	}
	if _, err := ParseDType("float33"); err == nil || !strings.Contains(err.Error(), "bfloat16") {
		t.Error(err)
	}
	for d, want := range map[DType]string{Invalid: "dtype(0)", 101: "float32_ref", 134: "dtype(134)", -1: "dtype(-1)"} {
		if d.String() != want || d.Valid() || d.Size() != 0 {
			t.Errorf("%d: %s", int(d), d)
		}
	}
	if Complex64.Swap() != 4 || Complex128.Swap() != 8 || Float32.Swap() != 4 || String.Swap() != 1 || Int4.Swap() != 1 {
		t.Error("Swap")
	}
}

func TestTensorsAreValidOrNotMade(t *testing.T) {
	if _, err := New([]float32{1, 2}, 3); err == nil {
		t.Error("two values for three places")
	}
	if _, err := New([]float32{1}, 1, -1); err == nil {
		t.Error("a negative size")
	}
	if x, err := New([]float32{5}); err != nil || x.Rank() != 0 {
		t.Error(x, err)
	}
	for _, d := range []DType{Invalid, 34, 101} {
		if _, err := Zeros(d, 1); err == nil {
			t.Errorf("%v was made", d)
		}
		if _, err := FromBytes(d, nil, 0); err == nil {
			t.Errorf("%v was made of bytes", d)
		}
		if _, err := FromStrings(d, nil, 0); err == nil {
			t.Errorf("%v was made of strings", d)
		}
	}
	if _, err := Zeros(Float64, math.MaxInt/4); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("more bytes than there are: %v", err)
	}
	if _, err := FromBytes(Float32, make([]byte, 7), 2); err == nil {
		t.Error("seven bytes for two floats")
	}
	raw := alloc(24)
	x, err := FromBytes(Float64, raw[1:17], 2) // not aligned: copied
	if err != nil || x.Len() != 2 {
		t.Fatal(err)
	}
	if raw[1] = 9; Values[float64](x)[0] != 0 {
		t.Error("storage that isn't aligned is shared")
	}
	if _, err := FromStrings(Float32, []string{"a"}, 1); err == nil {
		t.Error("strings for floats")
	}
	if _, err := FromStrings(String, []string{"a"}, 2); err == nil {
		t.Error("one string for two")
	}
}

func TestAccessIsTyped(t *testing.T) {
	x := Vector[float32](1, 2)
	if _, err := ValuesOf[float64](x); err == nil {
		t.Error("float32 read as float64")
	}
	if _, err := Item[float32](x); err == nil {
		t.Error("one item of two")
	}
	if v, err := Item[string](Scalar("a")); err != nil || v != "a" {
		t.Error(v, err)
	}
	r := Must(FromStrings(Resource, []string{"r"}, 1))
	if v, err := ValuesOf[Opaque](r); err != nil || v[0] != "r" {
		t.Error(v, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Values of another type doesn't panic")
		}
	}()
	Values[int32](x)
}

func TestReshape(t *testing.T) {
	x := Vector[int8](1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		dims []int
		want string
	}{{[]int{2, 3}, "[2,3]"}, {[]int{-1, 2}, "[3,2]"}, {[]int{6, -1, 1}, "[6,1,1]"}, {[]int{4, -1}, ""}, {[]int{-1, -1}, ""}, {[]int{5}, ""}, {[]int{-2, 3}, ""}, {[]int{0, -1}, ""}} {
		y, err := x.Reshape(c.dims...)
		if (err == nil) != (c.want != "") || err == nil && y.Shape().String() != c.want {
			t.Errorf("%v: %v", c.dims, err)
		}
	}
}

func TestCopiesAreIndependentAndEqualityIsOfBits(t *testing.T) {
	x := Vector(float32(math.NaN()), 0)
	y := x.Clone()
	if !x.Equal(y) {
		t.Error("a copy isn't equal")
	}
	Values[float32](y)[1] = float32(math.Copysign(0, -1))
	if x.Equal(y) {
		t.Error("0 and -0 are equal")
	}
	if x.Equal(Vector[float64](0)) || Vector("a").Equal(Vector("b")) || !Vector("a").Equal(Vector("a").Clone()) {
		t.Error("Equal")
	}
	if Vector("ab", "c").NumBytes() != 3 || x.NumBytes() != 8 {
		t.Error("NumBytes")
	}
}

func TestEveryElementTypeHasItsDType(t *testing.T) {
	seen := map[DType]bool{}
	note := func(d DType, size int) {
		if d.Fixed() && d.Size() != size {
			t.Errorf("%v takes %d bytes, its Go type %d", d, d.Size(), size)
		}
		seen[d] = true
	}
	note(TypeOf[bool](), 1)
	note(TypeOf[string](), 0)
	note(TypeOf[Opaque](), 0)
	note(TypeOf[int8](), 1)
	note(TypeOf[int16](), 2)
	note(TypeOf[int32](), 4)
	note(TypeOf[int64](), 8)
	note(TypeOf[uint8](), 1)
	note(TypeOf[uint16](), 2)
	note(TypeOf[uint32](), 4)
	note(TypeOf[uint64](), 8)
	note(TypeOf[float32](), 4)
	note(TypeOf[float64](), 8)
	note(TypeOf[complex64](), 8)
	note(TypeOf[complex128](), 16)
	note(TypeOf[F16](), 2)
	note(TypeOf[BF16](), 2)
	note(TypeOf[F8E5M2](), 1)
	note(TypeOf[F8E4M3FN](), 1)
	note(TypeOf[F8E4M3FNUZ](), 1)
	note(TypeOf[F8E4M3B11FNUZ](), 1)
	note(TypeOf[F8E5M2FNUZ](), 1)
	note(TypeOf[F4E2M1FN](), 1)
	note(TypeOf[I4](), 1)
	note(TypeOf[U4](), 1)
	note(TypeOf[I2](), 1)
	note(TypeOf[U2](), 1)
	note(TypeOf[Q8](), 1)
	note(TypeOf[QU8](), 1)
	note(TypeOf[Q16](), 2)
	note(TypeOf[QU16](), 2)
	note(TypeOf[Q32](), 4)
	for _, d := range DTypes() {
		if !seen[d] && d != Resource {
			t.Errorf("%v has no Go type", d)
		}
	}
}
