// Package kernel joins the built-in kernels, family by family, to one set. [All]
// returns it. No kernel is registered elsewhere.
//
// Each family is a package below this one with a table of kernels by TensorFlow op names:
//
//   - math: arithmetic, comparisons, logic and activations, element by element
//   - matmul: products of matrices, and attention
//   - reduce: sums, extremes, logic and running sums along axes
//   - array: shapes, slices, joins, gathers and other moves of elements
//   - nn: softmax, cross-entropies and layer normalization
//   - conv: convolutions, pooling and batch normalization
//   - rnn: recurrent networks, and losses and decoders of sequences
//   - quant: quantized numbers
//   - random: random numbers
//   - linalg: factorizations and solvers
//   - signal: Fourier transforms and sound
//   - image: the sizes, colors, boxes and files of images
//   - text: strings, regular expressions and Unicode
//   - parse: serialized messages, tensors, CSV and numbers
//   - sparse: sparse tensors and sets
//   - ragged: ragged tensors
//   - list: lists, maps, arrays and stacks of tensors, and optionals
//   - control: control flow, calls of functions, checks and prints
//   - state: variables, and the updates of optimizers
//   - lookup: tables
//   - data: datasets, iterators and queues
//   - io: files, checkpoints and summaries
//   - xla: XLA's products, windows and reductions
//   - composite: ops made of other ops
package kernel
