package hdf5

import "github.com/cairnml/cairn/tensor"

// tile calls run for each run of n bytes that a chunk shares with its dataset, with its offset
// among the bytes of all elements, and among those of the chunk. The chunk is the one with the
// given coordinates; bytes beyond the dataset's shape are left out.
func tile(coords []uint64, shape, chunks tensor.Shape, size int, run func(all, chunk, n int) error) error {
	rank := len(shape)
	shared := make([]int, rank) // the part of the chunk that is in the shape
	steps := make([]int, rank)  // elements between neighbours of the dataset
	from, step := 0, 1          // from is the chunk's first index in the dataset
	for i := rank - 1; i >= 0; i-- {
		start := int(coords[i]) * chunks[i]
		shared[i] = min(chunks[i], shape[i]-start)
		steps[i] = step
		from += start * step
		step *= shape[i]
	}
	// The trailing dimensions that both share as a whole, and one before, are one run.
	length, outer, inside := size, rank, size
	for outer > 0 {
		outer--
		length *= shared[outer]
		inside *= chunks[outer]
		if shared[outer] != chunks[outer] || shared[outer] != shape[outer] {
			break
		}
	}
	at := make([]int, outer)
	for {
		to, in := from, 0
		for i, x := range at {
			to += x * steps[i]
			in = in*chunks[i] + x
		}
		in *= inside
		if err := run(to*size, in, length); err != nil {
			return err
		}
		i := outer - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < shared[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}
