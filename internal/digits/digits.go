// Package digits embeds a small real data set: 1,797 handwritten digits of 8 by
// 8 pixels, the test part of UCI's "Optical Recognition of Handwritten Digits"
// by E. Alpaydin and C. Kaynak, under CC BY 4.0. README.md in this directory
// names the source of the bytes. Package internal/demo uses the images.
package digits

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"fmt"
	"io"
)

const (
	// Count is the number of images.
	Count = 1797
	// Side is the width and the height of an image in pixels.
	Side = 8
	// Pixels is the number of pixels of an image.
	Pixels = Side * Side
	// Classes is the number of different labels, the digits 0 to 9.
	Classes = 10
	// Black is the darkest pixel's value; white is 0.
	Black = 16
	// Attribution is the credit that the licence asks for.
	Attribution = "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, UCI Machine Learning Repository (1998), doi:10.24432/C50P49, CC BY 4.0"
)

// packed is the deflated set: all images, then all labels, a byte each.
//
//go:embed digits.deflate
var packed []byte

// Data is the set, in UCI's order.
type Data struct {
	Images []uint8 // Count images of Pixels values from 0 to Black, row by row
	Labels []uint8 // Count labels from 0 to 9
}

// Load unpacks the set; every call returns separate slices.
func Load() (*Data, error) {
	all := make([]byte, Count*(Pixels+1))
	r := flate.NewReader(bytes.NewReader(packed))
	if _, err := io.ReadFull(r, all); err != nil {
		return nil, fmt.Errorf("digits: the embedded data is damaged: %w", err)
	}
	return &Data{Images: all[: Count*Pixels : Count*Pixels], Labels: all[Count*Pixels:]}, nil
}

// Image returns the pixels of image i, not a copy.
func (d *Data) Image(i int) []uint8 { return d.Images[i*Pixels : (i+1)*Pixels] }
