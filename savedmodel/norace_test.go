//go:build !race

package savedmodel_test

const raceEnabled = false
