//go:build race

package function_test

const raceEnabled = true // the detector allocates too
