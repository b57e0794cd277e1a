package text

import (
	"encoding/binary"
	"fmt"

	"github.com/dchest/siphash"
	farm "github.com/dgryski/go-farm"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/murmur"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of StringToHashBucketFast, StringToHashBucketStrong,
// StringToHashBucket, Fingerprint and SdcaFprint. Every hash is TensorFlow's
// and must stay: models are trained with the numbers.

// buckets prepares StringToHashBucket…, which maps each string to its hash
// modulo num_buckets. hash returns a node's hash.
func buckets(hash func(*engine.Node) (func(string) uint64, error)) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		count := n.Attrs.Int("num_buckets", 0)
		if count < 1 {
			return nil, fmt.Errorf("num_buckets is %d, below 1", count)
		}
		h, err := hash(n)
		if err != nil {
			return nil, err
		}
		return eachText(func(s string) int64 { return int64(h(s) % uint64(count)) }), nil
	}
}

// fast returns FarmHash's 64-bit fingerprint, for StringToHashBucketFast.
func fast(*engine.Node) (func(string) uint64, error) {
	return func(s string) uint64 { return farm.Fingerprint64([]byte(s)) }, nil
}

// strong returns SipHash-2-4 under the key of the attribute, for
// StringToHashBucketStrong.
func strong(n *engine.Node) (func(string) uint64, error) {
	key := n.Attrs.Ints("key")
	if len(key) != 2 {
		return nil, fmt.Errorf("the key has %d numbers, not 2", len(key))
	}
	return func(s string) uint64 { return siphash.Hash(uint64(key[0]), uint64(key[1]), []byte(s)) }, nil
}

// legacy returns MurmurHash64A with TensorFlow's fixed seed (package murmur),
// for the oldest of these ops, StringToHashBucket.
func legacy(*engine.Node) (func(string) uint64, error) {
	return murmur.Hash64, nil
}

// fingerprint returns eight bytes for each row of data, little-endian: FarmHash's
// fingerprint of the row's bytes. A row of one string has the string's
// fingerprint. A row of several is hashed as the bytes of their fingerprints, 8
// for each, little-endian. It is the kernel of Fingerprint.
func fingerprint(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	data, s := c.In(0), c.In(0).Shape()
	method, err := one(c, 1, "the method")
	switch {
	case err != nil:
		return err
	case method != "farmhash64":
		return fmt.Errorf("the method is %q, not farmhash64", method)
	case len(s) == 0:
		return fmt.Errorf("the data is a scalar, which has no rows")
	}
	row := func(i int) []byte {
		width := data.Len() / s[0] * data.DType().Size()
		return data.Bytes()[i*width : (i+1)*width]
	}
	if data.DType() == tensor.String {
		width := data.Len() / max(s[0], 1)
		row = func(i int) []byte {
			list := data.Strings()[i*width : (i+1)*width]
			if width == 1 {
				return []byte(list[0])
			}
			b := make([]byte, 0, 8*width)
			for _, x := range list {
				b = binary.LittleEndian.AppendUint64(b, farm.Fingerprint64([]byte(x)))
			}
			return b
		}
	}
	out, err := c.Alloc(0, tensor.Uint8, tensor.Shape{s[0], 8})
	if err != nil {
		return err
	}
	for i := range s[0] {
		c.Step(i)
		binary.LittleEndian.PutUint64(out.Bytes()[8*i:], farm.Fingerprint64(row(i)))
	}
	return nil
}

// longFingerprint returns FarmHash's 128-bit fingerprints, the low half first. It
// is the kernel of SdcaFprint.
func longFingerprint(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x, err := texts(c, 0)
	if err != nil {
		return err
	}
	if len(c.In(0).Shape()) != 1 {
		return fmt.Errorf("takes a vector, not a tensor of shape %v", c.In(0).Shape())
	}
	out, err := c.Alloc(0, tensor.Int64, tensor.Shape{len(x), 2})
	if err != nil {
		return err
	}
	v := tensor.Values[int64](out)
	for i, s := range x {
		c.Step(i)
		low, high := farm.Fingerprint128([]byte(s))
		v[2*i], v[2*i+1] = int64(low), int64(high)
	}
	return nil
}
