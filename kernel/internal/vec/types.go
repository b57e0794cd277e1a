package vec

// Float are the floating-point types that Go computes with.
type Float interface{ float32 | float64 }

// Signed are the signed integer types of tensors.
type Signed interface{ int8 | int16 | int32 | int64 }

// Unsigned are the unsigned ones.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Int are all integer types of tensors.
type Int interface{ Signed | Unsigned }

// Real are the types that have an order.
type Real interface{ Float | Int }

// Complex are the complex types.
type Complex interface{ complex64 | complex128 }

// Number are the types that can be added.
type Number interface{ Real | Complex }

// Scalar are the types that can be compared for equality.
type Scalar interface{ Number | bool | string }
