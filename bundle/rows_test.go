package bundle

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestRowsAreLittleNextToWhatIsRead: the memory that a worker reads small pieces to is needed
// besides theirs.
func TestRowsAreLittleNextToWhatIsRead(t *testing.T) {
	for _, c := range []struct{ pieces, size, most int64 }{
		{100, 4 << 10, 16 << 10},
		{1000, 4 << 10, 64_000},
		{2000, 8 << 10, small},
		{4000, 64 << 10, chunk},
	} {
		var br blobReader
		for i := range c.pieces {
			br.blobs = append(br.blobs, &blob{piece: piece{off: i * c.size, size: c.size, dtype: tensor.Float32}})
		}
		pieces, longest := 0, int64(0)
		for _, x := range br.tasks() {
			pieces += len(x.blobs)
			longest = max(longest, int64(len(x.blobs))*c.size)
		}
		if pieces != int(c.pieces) || longest > c.most || longest < c.most/2 {
			t.Errorf("%d pieces of %d bytes: %d are read, at most %d bytes at once, want %d", c.pieces, c.size, pieces, longest, c.most)
		}
	}
}
