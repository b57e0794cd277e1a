//go:build !race

package detector

// Racing reports whether the race detector is on.
const Racing = false
