// Package detector tells tests whether the race detector is on: it allocates besides
// what a test counts, empties pools, and makes moving gigabytes take minutes.
package detector
