package hdf5

import "github.com/cairnml/cairn/tensor"

// tile calls run for each run of elements that a chunk shares with its dataset, in the bytes of
// all elements and in those of the chunk. The chunk is the one with the given coordinates; what
// is beyond the dataset's shape is left out.
func tile(all, chunk []byte, coords []uint64, shape, chunks tensor.Shape, size int, run func(all, chunk []byte)) {
	rank := len(shape)
	shared := make([]int, rank) // the part of the chunk that is in the shape
	steps := make([]int, rank)  // elements between neighbours of the dataset
	from, step := 0, 1          // from is where the chunk begins in the dataset
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
		run(all[to*size:to*size+length], chunk[in:in+length])
		i := outer - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < shared[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
