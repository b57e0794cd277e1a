package featurecolumn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// Crossed has categories by the hash of combinations of features:
// tf.feature_column.crossed_column.
type Crossed struct {
	// Keys are features of strings or integers, by their names, and columns of categories.
	Keys []Key
	// HashBucketSize is the number of categories. It is required.
	HashBucketSize int
	// HashKey is the key of the hash. Default, and for 0: TensorFlow's.
	HashKey *int64
}

// Key is a part of a [Crossed]: the name of a feature, or a column.
type Key struct {
	// Feature is the name of a feature. It is used if Column is nil.
	Feature string
	// Column is the column. Default: none.
	Column Categorical
}

// MarshalConfig returns the name or the column's JSON.
func (k Key) MarshalConfig() (any, error) {
	if k.Column != nil {
		return k.Column, nil
	}
	return k.Feature, nil
}

// MarshalConfig returns the column's JSON.
func (c *Crossed) MarshalConfig() (any, error) {
	return object("CrossedColumn", config.Fields{{Name: "keys", Value: c.Keys}, {Name: "hash_bucket_size", Value: c.HashBucketSize}, {Name: "hash_key", Value: c.HashKey}})
}

// DecodeConfig reads the config.
func (c *Crossed) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	for name, v := range fields {
		var err error
		switch name {
		case "keys":
			list, ok := v.([]any)
			if !ok {
				return fmt.Errorf("keys: got no list")
			}
			c.Keys = make([]Key, len(list))
			for i, x := range list {
				if c.Keys[i].Feature, ok = x.(string); ok {
					continue
				}
				if err := d.Value(x, &c.Keys[i].Column); err != nil {
					return fmt.Errorf("keys: [%d]: %w", i, err)
				}
			}
		case "hash_bucket_size":
			err = d.Value(v, &c.HashBucketSize)
		case "hash_key":
			if n, ok := v.(json.Number); ok {
				k, failed := n.Int64()
				c.HashKey, err = &k, failed
			} else if v != nil {
				err = fmt.Errorf("got no number")
			}
		default:
			return &config.UnknownError{Kind: "field", Of: "CrossedColumn", Name: name}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *Crossed) columns() (list []Column) {
	for _, k := range c.Keys {
		if k.Column != nil {
			list = append(list, k.Column)
		}
	}
	return list
}

func (c *Crossed) check() error {
	if len(c.Keys) < 2 || c.HashBucketSize < 1 {
		return fmt.Errorf("a crossed column has %d keys and HashBucketSize %d, want 2 keys or more and 1 or more", len(c.Keys), c.HashBucketSize)
	}
	for i, k := range c.Keys {
		if k.Feature == "" && k.Column == nil {
			return fmt.Errorf("key %d of a crossed column is empty", i)
		}
		if _, ok := k.Column.(*WeightedCategorical); ok {
			return fmt.Errorf("key %d of a crossed column has weights, want a column without", i)
		}
	}
	return nil
}

// leaves returns the keys, those of inner crossed columns in their places. Their order decides the
// hashes, as TensorFlow's _collect_leaf_level_keys.
func (c *Crossed) leaves() (list []Key) {
	for _, k := range c.Keys {
		if inner, ok := k.Column.(*Crossed); ok {
			list = append(list, inner.leaves()...)
		} else {
			list = append(list, k)
		}
	}
	return list
}

// Name returns the names of the keys in order, joined by "_X_".
func (c *Crossed) Name() string {
	var names []string
	for _, k := range c.leaves() {
		if k.Column != nil {
			names = append(names, k.Column.Name())
		} else {
			names = append(names, k.Feature)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "_X_")
}

// Features returns the names of the features.
func (c *Crossed) Features() (names []string) {
	for _, k := range c.leaves() {
		if k.Column != nil {
			names = append(names, k.Column.Features()...)
		} else {
			names = append(names, k.Feature)
		}
	}
	return names
}

// Buckets returns the number of categories.
func (c *Crossed) Buckets() int { return c.HashBucketSize }

// Categories returns the hashes.
func (c *Crossed) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	var parts []*ops.Value
	for _, k := range c.leaves() {
		if k.Column != nil {
			ids, _ := k.Column.Categories(s, in)
			parts = append(parts, ids.Value(s))
			continue
		}
		x := in.Values[k.Feature]
		if x != nil {
			if t, ok := base.SparseOf(x); ok {
				t, err := in.matrix(s, k.Feature, t)
				if err != nil {
					return failed(s, c.Name(), err), nil
				}
				parts = append(parts, t.Value(s))
				continue
			}
		}
		x, err := in.dense(s, k.Feature)
		if err != nil {
			return failed(s, c.Name(), err), nil
		}
		parts = append(parts, x)
	}
	if s.Err() != nil {
		return failed(s, c.Name(), s.Err()), nil
	}
	key := int64(0xDECAFCAFFE) // TensorFlow's default
	if c.HashKey != nil && *c.HashKey != 0 {
		key = *c.HashKey
	}
	return crossed(s, parts, int64(c.HashBucketSize), key), nil
}
