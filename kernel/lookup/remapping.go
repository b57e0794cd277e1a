package lookup

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// vocabRemapping prepares GenerateVocabRemapping, which returns the number of
// each line of one vocabulary in another one, -1 for a missing line. Output 1
// is the number of lines that were found.
func vocabRemapping(n *engine.Node) (func(*engine.Call) error, error) {
	offset, count, most := n.Attrs.Int("new_vocab_offset", 0), n.Attrs.Int("num_new_vocab", 0), n.Attrs.Int("old_vocab_size", -1)
	if offset < 0 || count < 0 || most < -1 {
		return nil, fmt.Errorf("%d lines from line %d on, of a vocabulary of %d, can't be", count, offset, most)
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		var lines [2][]string
		for i, limit := range []int64{-1, most} {
			t := c.In(i)
			if t.DType() != tensor.String || t.Len() != 1 {
				return fmt.Errorf("the file's name is %v%v, not one string", t.DType(), t.Shape())
			}
			f := &textFile{key: -2, value: -1, most: limit}
			fsys, place, err := c.Reading(t.Strings()[0])
			if err != nil {
				return err
			}
			keys, _, err := f.read(c.Context(), fsys, place, &Table{keys: column{dtype: tensor.String}, values: column{dtype: tensor.Int64}})
			if err != nil {
				return err
			}
			lines[i] = keys.Strings()
		}
		if int64(len(lines[0])) < count || offset > int64(len(lines[0]))-count {
			return fmt.Errorf("the new vocabulary has %d lines, %d from line %d on are wanted", len(lines[0]), count, offset)
		}
		at := make(map[string]int64, len(lines[1]))
		l := looks{ctx: c.Context()}
		for i, line := range lines[1] {
			if err := l.key(len(line)); err != nil {
				return err
			}
			if _, twice := at[line]; twice {
				return fmt.Errorf("the old vocabulary has the line %q twice", line)
			}
			at[line] = int64(i)
		}
		out, err := c.Alloc(0, tensor.Int64, tensor.Shape{int(count)})
		if err != nil {
			return err
		}
		found := int32(0)
		for i, line := range lines[0][offset : offset+count] {
			if err := l.key(len(line)); err != nil {
				return err
			}
			k, ok := at[line]
			if ok {
				found++
			} else {
				k = -1
			}
			tensor.Values[int64](out)[i] = k
		}
		c.Set(1, tensor.Scalar(found))
		return nil
	}, nil
}
