// Package detector shows tests whether the race detector is on. It adds allocations
// to those a test counts, empties pools, and makes moving gigabytes take minutes. Tests
// of many packages use it.
package detector
