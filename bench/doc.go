// Bench runs Cairn, TensorFlow, onnxruntime, safetensors and raw I/O on the same work and prints a
// comparison.
//
//	python -m venv .venv && .venv/bin/pip install -r interop/requirements.txt
//	go run ./bench -python .venv/bin/python
//	go run ./bench -python .venv/bin/python -only files -match '100,000'   # some rows
//
// Every contender is a separate process that stays up and is asked, in turn, to do one piece of
// work: save, restore, a number of training steps or of calls of a model. A round asks each of
// them once, or five times if its answer takes less than half a second. The figures are medians of
// all answers, so that a machine that slows down slows all of them. The number of requests to a
// contender doesn't depend on the time of the others. Otherwise a contender that takes half a
// minute would make the other's rows medians of a few answers, each after a long sleep. These
// would not be comparable with rows in which all are fast.
//
// Contenders' threads poll for more work after an answer, onnxruntime's for 20 milliseconds and
// more. So each is asked only after those of the previous one have gone to sleep: short rows take
// up to a half longer otherwise, and the order determines whose. For the same reason unsynced
// writes of one are synced before the next one is asked. Checksums are verified, files are synced
// if the row requires it, and values that were read are summed.
//
// Some rows also show the time of as many multiply-adds in registers, on all cores, as their
// products of matrices have: no contender that multiplies matrices is faster.
//
// Each peer speaks the same protocol on its standard streams: it prints "ready", then answers
// every line (a verb) with the seconds that the work took, or with the figure that the verb asks
// for, such as bytes of memory.
//
// The work of a verb must be the same for all contenders, so a change here needs the same
// change in the programs in peer/. The documents quote rows with their figures: a row that is
// reworded or changed must be measured and quoted again.
package main
