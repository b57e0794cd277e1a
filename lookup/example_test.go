package lookup_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/tensor"
)

func ExampleNewStaticHashTable() {
	table, err := lookup.NewStaticHashTable(
		lookup.KeyValueTensorInitializer{Keys: []string{"cat", "dog"}, Values: []int64{0, 1}}, int64(-1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := function.Eager(context.Background())
	ids := table.Lookup(s, []string{"dog", "horse"})
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids)
	// Output: [ 1 -1]
}

func ExampleMutableHashTable() {
	counts, err := lookup.NewMutableHashTable(tensor.String, int64(0), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := function.Eager(context.Background())
	counts.Insert(s, []string{"cat", "dog"}, []int64{3, 5})
	counts.Remove(s, []string{"dog"})
	fmt.Println(counts.Lookup(s, []string{"cat", "dog"}), counts.Size(s))
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: [3 0] 1
}
