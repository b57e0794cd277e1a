//go:build !race

package function_test

const raceEnabled = false
