// Package metrics has the metrics of tf_keras.
//
//	accuracy := new(metrics.SparseCategoricalAccuracy)
//	accuracy.Update(s, labels, logits, nil)
//	fmt.Println(metrics.Value(ctx, accuracy))
//
// A metric is a struct whose exported fields are its config; the zero value has tf_keras's
// defaults. Its variables are part of the object graph, so a restored metric
// continues to count. Their names and order are tf_keras's. Update, Result and Reset take a
// scope, so they work eagerly and in functions; [Value] reads a result outside of both.
//
// [Mean], [Sum] and [MeanTensor] take values; every other metric takes truths and
// predictions, and is a [Metric]. [Get] makes a metric of a name or a config, and [For] one
// for given outputs, which "accuracy" and "crossentropy" depend on.
//
// A program's own metric embeds [Base] and implements [Stated], or is a
// [MeanMetricWrapper] of a function.
package metrics
