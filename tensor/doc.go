// Package tensor holds concrete data in TensorFlow's element types.
//
// A [Tensor] is always valid: its [DType] is known, its [Shape] has no unknown
// dimension, and its storage holds exactly one element per position. Symbolic
// values and failed ones are handles of package ops instead.
//
// Values are made and read through the generic functions [New], [Scalar],
// [Values] and [Item]:
//
//	t, err := tensor.New([]float32{1, 2, 3, 4}, 2, 2)
//	row := tensor.Values[float32](t)[:2]
//
// A Tensor is treated as immutable once it is shared: [Values] and
// [Tensor.Bytes] hand out the storage itself, without a copy, so that large
// tensors can be read and filled in place by their owner.
//
// # Element types
//
// Every type a TensorFlow file can hold has a number here (the numbers are
// those of TensorFlow's types.proto) and a Go type. Types without a Go
// counterpart are defined on an integer that holds their bits: [F16], [BF16],
// [F8E5M2] and the other float8 kinds, [F4E2M1FN], [I4], [I2] and their
// unsigned twins, [Q8] and the other quantized kinds. Narrow types take one
// byte an element, with the unused upper bits clear, as they do in a
// checkpoint. Elements of [Variant] and [Resource] are opaque bytes, of type
// [Opaque].
//
// Storage is in the machine's own byte order; package bundle swaps if a file
// has the other one.
package tensor
