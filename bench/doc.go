// Bench runs Cairn, TensorFlow, onnxruntime, safetensors and raw I/O side by
// side on the same work and prints how they compare.
//
//	python -m venv .venv && .venv/bin/pip install -r interop/requirements.txt
//	go run ./bench -python .venv/bin/python
//	go run ./bench -python .venv/bin/python -only files -match '100,000'   # some rows
//
// Every contender is a process of its own that stays up and is asked, in turn,
// to do one piece of work: save, restore, a number of training steps or of calls
// of a model. A round asks each of them, once or, where its answer takes less than half
// a second, five times; the figures are medians of all answers, so that a machine that
// slows down slows all of them. How often a contender is asked doesn't depend on how long the
// others take: where one takes half a minute, which another waits, the other's rows would be
// medians of a few answers, each after a long sleep, and not comparable with those of rows that
// all do in no time. Contenders' threads look out for more
// work after an answer, onnxruntime's for 20 milliseconds and more, so each is asked only
// when those of the one before have gone to sleep: short rows take up to a half longer
// otherwise, and which contender's depends on the order. For the same reason what one has
// written and not synced is synced before the next one is asked. Checksums are verified, files are
// synced where the row says so, and what is read is summed up.
//
// Beside some works stands how long as many multiply-adds take in registers, on all cores, as
// their products of matrices have: no contender that multiplies matrices is faster.
//
// Each peer speaks the same protocol on its standard streams: it prints "ready",
// then answers every line (a verb) with the seconds that the work took.
package main
