// Package dataset feeds training: a [Dataset] is a recipe for a sequence of elements, an [Iterator] a place in it that
// a checkpoint can hold.
//
//	type Example struct{ X, Y *tensor.Tensor }
//
//	train := dataset.FromSlices(Example{inputs, labels}). // rows of both
//		Shuffle(1000, &dataset.ShuffleOptions{Seed: 1}).
//		Batch(32, nil).
//		Repeat(10)
//	for ex, err := range train.All(ctx) { … }
//
// # Elements
//
// An element is a value of any type that holds tensors: a *tensor.Tensor, an *ops.Value, a pair or any other struct
// whose exported fields are such values, Go slices or structs of them. [FromSlices] and [Dataset.Batch] inspect the
// type once, when the dataset is made; all other steps don't inspect elements.
//
// # Passes and order
//
// A Dataset is immutable: each iteration yields the same elements, in the same order if every shuffle has a seed.
// [Dataset.Repeat] counts its passes, and a shuffle before it has a different order in each pass, which depends on the
// seed and the pass alone. [Dataset.Epoch] is pass n by itself:
//
//	for epoch := range 10 {
//		for ex, err := range train.Epoch(epoch).All(ctx) { … }
//	}
//
// The orders of [Dataset.Shuffle] are TensorFlow's if its options select them.
//
// # Sources of data
//
// The functions of tf_keras.utils for data are here under shorter names:
//
//	to_categorical                  Categorical
//	pad_sequences                   Pad, PadTensors
//	timeseries_dataset_from_array   TimeSeries, TimeSeriesTargets
//	image_dataset_from_directory    ListDirectory, then Images or LabeledImages
//	text_dataset_from_directory     ListDirectory, then Texts or LabeledTexts
//
// Batches are made by [Dataset.Batch]. [ListDirectory] and [TimeSeries] shuffle in tf_keras's order for a seed.
// tf_keras then shuffles at each pass with a buffer of eight batches, which is
//
//	Shuffle(8*batch, &dataset.ShuffleOptions{Seed: seed, TensorFlow: true}).Batch(batch, nil)
//
// # The iterator in a checkpoint
//
// An [Iterator] is a trackable object: as a field of a checkpointed struct it writes its place. A restored one
// continues with the element that would have come next, shuffled order included, even if the shuffle had no seed. The
// place is a scalar string under the attribute [StateAttribute]; it counts elements and holds none, so it takes some
// bytes only. TensorFlow ignores it: the encoding of tf.data's own iterators isn't read or written.
//
// The place is
//
//	magic "CDI1" | pipeline: uvarint length, text | uvarint seed | the steps' numbers, from the last step to the source
//
// This encoding is Cairn's own and must stay readable: checkpoints contain it. The text names the steps and their
// sizes, so that a place can't be restored into another pipeline. The seed is that
// of the shuffles which have none in their options. If a shuffle is restored, its source is read again up to the
// place; functions given to Map and Filter run again then and must return the same results.
package dataset
