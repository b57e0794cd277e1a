package savedmodel_test

import (
	"context"
	"fmt"
	"os"

	"github.com/cairnml/cairn/savedmodel"
)

// Reading the graph's file is enough to list the model's parts; no kernel is
// needed.
func ExampleRead() {
	saved, err := savedmodel.Read(context.Background(), os.DirFS("testdata/models/counter"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sig := range saved.MetaGraphs[0].Signatures {
		for _, in := range sig.Inputs {
			fmt.Println(sig.Name, "takes", in.Name, in.DType, in.Shape)
		}
	}
	// Output: serving_default takes x float32 []
}
