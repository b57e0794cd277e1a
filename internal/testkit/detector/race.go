//go:build race

package detector

// Racing tells that the race detector is on.
const Racing = true
