package bundle

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestKeysAreSortedByTheirBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	many := make([]string, 3*sortBatch)
	for i := range many {
		many[i] = "model/v/" + strconv.Itoa(i) + "/.ATTRIBUTES/VARIABLE_VALUE"
	}
	many[0], many[len(many)-1], many[7] = "_CHECKPOINTABLE_OBJECT_GRAPH", "z", "model"
	random := make([]string, 2*sortBatch+1)
	for i := range random {
		b := make([]byte, rng.IntN(14))
		for k := range b {
			b[k] = "\x00\x01a\xff"[rng.IntN(4)]
		}
		random[i] = "k\xff" + string(b)
	}
	slices.Sort(random)
	random = slices.Compact(random)
	rng.Shuffle(len(random), func(i, j int) { random[i], random[j] = random[j], random[i] })
	for _, keys := range [][]string{
		nil, {""}, {"b", "a"}, {"", "\x00", "\x00\x00"}, {"a\x00", "a"}, {"same-same\x00\x00", "same-same\x00", "same-same"},
		{"x/12345678b", "x/12345678a", "x/12345678", "x/1234567", "x"}, many, random,
	} {
		var got []string
		for _, k := range sortedKeys(len(keys), func(i int) string { return keys[i] }) {
			got = append(got, keys[k.n])
		}
		want := slices.Clone(keys)
		slices.SortFunc(want, strings.Compare)
		if !slices.Equal(got, want) {
			t.Errorf("%.100q are sorted as %.100q, want %.100q", keys, got, want)
		}
	}
}
