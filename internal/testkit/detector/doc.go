// Package detector shows tests whether the race detector is on. The race detector adds
// allocations to those a test counts, empties pools, and makes moving gigabytes take
// minutes. Tests of many packages use it.
package detector
