//go:build race

package savedmodel_test

const raceEnabled = true // the detector empties pools
