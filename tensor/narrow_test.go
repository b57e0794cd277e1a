package tensor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// patterns returns the float32 bit patterns that the fixture's digests cover,
// NaNs left out.
func patterns() []float32 {
	low := []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0x0fff}
	out := make([]float32, 0, 1<<19)
	for hi := range uint32(1 << 16) {
		for _, l := range low {
			if f := math.Float32frombits(hi<<16 | l); f == f {
				out = append(out, f)
			}
		}
	}
	return out
}

func TestNarrowTypesRoundAsNumpyDoes(t *testing.T) {
	raw, err := os.ReadFile("testdata/numpy2.4/narrow.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Encode, Decode string
		Nan            uint32
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	in := patterns()
	src := Must(New(in, len(in)))
	for name, w := range want {
		d, err := ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Cast(src, d)
		if err != nil {
			t.Fatal(err)
		}
		if h := digest(got.Bytes(), d.Size()); h != w.Encode {
			t.Errorf("%s: rounding differs from ml_dtypes", name)
		}
		n := 1 << (8 * d.Size())
		if d == Float4E2M1FN {
			n = 16
		}
		all := Must(Zeros(d, n))
		for i := range n {
			if d.Size() == 2 {
				binary.NativeEndian.PutUint16(all.data[2*i:], uint16(i))
			} else {
				all.data[i] = byte(i)
			}
		}
		wide := Must(Cast(all, Float32))
		for i, v := range Values[float32](wide) {
			if v != v {
				Values[float32](wide)[i] = 12345
			}
		}
		if h := digest(wide.Bytes(), 4); h != w.Decode {
			t.Errorf("%s: widening differs from ml_dtypes", name)
		}
		nan := Must(Cast(Scalar(float32(math.NaN())), d))
		bits := uint32(nan.data[0])
		if d.Size() == 2 {
			bits = uint32(binary.NativeEndian.Uint16(nan.data))
		}
		if bits != w.Nan {
			t.Errorf("%s: NaN is %#x, ml_dtypes has %#x", name, bits, w.Nan)
		}
	}
}

func digest(b []byte, width int) string {
	b = append([]byte(nil), b...)
	if bigEndianHost {
		swapBytes(b, width)
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func TestNarrowIntegersKeepTheirLowBits(t *testing.T) {
	for _, c := range []struct{ got, want int }{
		{ToI4(7).Int(), 7}, {ToI4(8).Int(), -8}, {ToI4(-4).Int(), -4}, {int(ToI4(-4)), 0x0c},
		{ToU4(-1).Int(), 15}, {ToI2(2).Int(), -2}, {ToI2(-1).Int(), -1}, {ToU2(7).Int(), 3},
	} {
		if c.got != c.want {
			t.Errorf("got %d, want %d", c.got, c.want)
		}
	}
}

func TestCastFollowsTFCast(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to *Tensor
	}{
		{"truncates toward zero", Vector(3.7, -3.7, 0.2), Vector[int32](3, -3, 0)},
		{"saturates", Vector(1e20, -1e20, math.NaN()), Vector[int64](math.MaxInt64, math.MinInt64, 0)},
		{"saturates int8", Vector[float32](300, -300), Vector[int8](127, -128)},
		{"saturates uint64", Vector(1e20, -1, 1<<63), Vector[uint64](math.MaxUint64, 0, 1<<63)},
		{"keeps low bits", Vector[int32](257, -1), Vector[uint8](1, 255)},
		{"int64 to float32 rounds once", Vector[int64](1<<24+1<<0, 1<<53+1), Vector(float32(1<<24), float32(1<<53))},
		{"uint64 to float64", Vector[uint64](math.MaxUint64), Vector(float64(1 << 64))},
		{"to bool", Vector[float32](0, 0.5, -1), Vector(false, true, true)},
		{"from bool", Vector(true, false), Vector[float32](1, 0)},
		{"complex keeps the real part", Vector[complex64](1 + 2i), Vector[float64](1)},
		{"to complex", Vector[int8](-3), Vector[complex128](-3)},
		{"complex narrows", Vector[complex128](1.5 - 2i), Vector[complex64](1.5 - 2i)},
		{"float64 to bfloat16 by way of float32", Vector(1 + 0x1p-8 + 0x1p-40), Vector[BF16](0x3f80)},
		{"int4", Vector[I4](0x0c, 7), Vector[int16](-4, 7)},
		{"to int4", Vector[float32](3.7, -5.2), Vector[I4](3, 11)},
		{"quantized", Vector[Q8](-3), Vector[int32](-3)},
		{"nothing", Must(Zeros(Float32, 0, 3)), Must(Zeros(Int8, 0, 3))},
	} {
		got, err := Cast(c.from, c.to.DType())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !got.Equal(c.to) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.to)
		}
	}
	if _, err := Cast(Vector("a"), Float32); err == nil {
		t.Error("a string was cast to float32")
	}
	if _, err := Cast(Vector[float32](1), String); err == nil {
		t.Error("a number was cast to string")
	}
	same := Vector("a")
	if got, err := Cast(same, String); err != nil || got != same {
		t.Error("a cast to a tensor's own type is not the tensor")
	}
}

func TestCastCoversEveryPairOfTypes(t *testing.T) {
	for _, a := range DTypes() {
		for _, b := range DTypes() {
			src, err := Zeros(a, 3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Cast(src, b)
			if (err == nil) != CanCast(a, b) {
				t.Errorf("%v to %v: CanCast says %v, Cast says %v", a, b, CanCast(a, b), err)
			}
			if err == nil && (got.DType() != b || got.Len() != 3) {
				t.Errorf("%v to %v: got %v%v", a, b, got.DType(), got.Shape())
			}
		}
	}
}

func TestCastRangeConvertsLongRuns(t *testing.T) {
	src := make([]float32, 5000)
	for i := range src {
		src[i] = float32(i)
	}
	x := Must(New(src, len(src)))
	dst := alloc(3000 * 2)
	if err := CastRange(dst, x, Int16, 1000, 4000); err != nil {
		t.Fatal(err)
	}
	for i, v := range cast[int16](dst) {
		if int(v) != i+1000 {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if err := CastRange(dst, x, Int16, 0, 5001); err == nil {
		t.Error("elements beyond the end were converted")
	}
	if err := CastRange(dst[:10], x, Int16, 0, 6); err == nil {
		t.Error("converted into too little room")
	}
}

func TestNumericCopies(t *testing.T) {
	f, err := Vector[BF16](0x3f80, 0xc000).Float64s()
	if err != nil || f[0] != 1 || f[1] != -2 {
		t.Errorf("Float64s: %v, %v", f, err)
	}
	i, err := Vector[uint64](5).Int64s()
	if err != nil || i[0] != 5 {
		t.Errorf("Int64s: %v, %v", i, err)
	}
	if _, err := Vector[uint64](math.MaxUint64).Int64s(); err == nil {
		t.Error("2^64-1 became an int64")
	}
	if _, err := Vector("x").Float64s(); err == nil {
		t.Error("a string became a number")
	}
	long := make([]int32, 700)
	long[699] = 9
	f, err = Must(New(long, 700)).AppendFloat64s([]float64{1}, 500, 700)
	if err != nil || len(f) != 201 || f[200] != 9 {
		t.Errorf("AppendFloat64s: %d values, %v", len(f), err)
	}
}
