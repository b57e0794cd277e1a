package digits

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
)

func TestLoadGivesUCIsBytes(t *testing.T) {
	d, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append(slices.Clone(d.Images), d.Labels...))
	if got, want := hex.EncodeToString(sum[:]), "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"; got != want {
		t.Errorf("SHA-256 is %s, README.md says %s", got, want)
	}
	var counts [Classes]int
	for _, l := range d.Labels {
		counts[l]++
	}
	if want := [Classes]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; counts != want {
		t.Errorf("images a class: %v, want %v", counts, want)
	}
	if darkest := slices.Max(d.Images); darkest != Black {
		t.Errorf("the darkest pixel is %d, want %d", darkest, Black)
	}
	if got := d.Image(1)[:8]; !slices.Equal(got, []uint8{0, 0, 0, 12, 13, 5, 0, 0}) {
		t.Errorf("first row of image 1 is %v", got)
	}
}
