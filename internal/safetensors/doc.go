// Package safetensors reads and writes files of the safetensors format, lazily
// and without more memory than a tensor at a time. Packages convert, inspect
// and tensorfile use it.
//
// A file is three parts:
//
//	8 bytes   N, the header's length, little-endian; at most 100,000,000 bytes
//	N bytes   the header: a JSON object, padded with blanks at its end
//	the rest  the tensors' bytes, little-endian, row-major
//
// The header maps each tensor's name to {"dtype","shape","data_offsets":[a,b]},
// counted from the end of the header; "__metadata__" maps strings to strings.
// The tensors' bytes cover the rest of the file without holes and without
// overlap, no key occurs twice: any other file is refused, so that no data can
// be hidden in one.
//
// The written files equal those of the reference implementation (0.8), byte for
// byte: metadata first, sorted by key; tensors in the order of their types in kinds
// (dtype.go), then by name; the header padded to a multiple of eight bytes.
package safetensors
