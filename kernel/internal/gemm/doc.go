// Package gemm multiplies matrices of float32 and float64. Many packages of
// kernels use it.
//
// # Results
//
// [F32] and [F64] compute, for all i and j,
//
//	first := true
//	for block of up to 256 steps of k (all blocks nearly the same length) {
//		var s T
//		for p in block {
//			s = fma(op(A)[i, p], op(B)[p, j], s) // one rounding
//		}
//		if first && !accumulate {
//			C[i, j] = s
//		} else {
//			C[i, j] += s
//		}
//		first = false
//	}
//
// and they compute it exactly, in this order, for every shape and every
// division of the work. So a result does not depend on the number of workers,
// or on which of them computes a part. A row of C does not depend on the number
// of rows that are multiplied with it: an example gets the same output in any
// batch. AVX2 and AVX-512 have the same bits. Plain Go ([Generic]) rounds the
// product and the sum each, because no fused instruction can be relied on
// there: its results are the same on all architectures, and differ from those
// of the assembly by rounding. Tests compare every path with this loop bit for
// bit.
//
// Sums in blocks are also more exact than one long sum: the error grows with
// the length of a block and the number of blocks, not with k.
//
// # Method
//
// C is computed in tiles that fit the registers: one tile of AVX-512 is 12 rows
// of two vectors, 24 of the 32 registers. A step of k loads two vectors of one
// row of B and multiplies them with one element of each row of A, broadcast:
//
//	                    B: one panel, two vectors wide
//	                      ┌────────┐
//	                      │▒▒▒▒▒▒▒▒│ ← step p: 2 loads
//	                      │        │
//	   A: rows of a tile  │        │ k, in blocks of ≤ 256
//	   ┌─▒──────────┐     └────────┘
//	12 │ ▒          │     ┌────────┐
//	   │ ▒          │     │ tile   │ 24 sums in registers,
//	   └─▒──────────┘     │ of C   │ to memory once in a block
//	     ↑                └────────┘
//	   step p: 12 broadcasts, 24 multiply-adds
//
// Around the micro-kernel, from the outside in:
//
//	for task, a rectangle of tiles and panels — shared out
//		for block of k
//			pack the panels of B                 (256 × ≤256 KiB in all: L2)
//			for tile of rows
//				pack the tile's rows of A        (12 × 256: L1), if there are 2 panels or more
//				for panel
//					micro-kernel
//
// A task packs its own panels, because packed panels are in the caches of the
// core that packed them, and another core would have to fetch them from there.
// So columns are cut before rows: tasks that share columns would each pack the
// same panels.
//
// Rows of A are packed in runs of 32 bytes, by moving whole vectors:
//
//	A, row by row, as runs          packed, for a tile of 3 rows
//	a0 a1 a2 …                      a0 b0 c0 a1 b1 c1 a2 b2 c2 …
//	b0 b1 b2 …
//	c0 c1 c2 …
//
// The eight steps of float32 in a run take one register and offsets that are
// part of the instructions. So the micro-kernel has few instructions besides
// the arithmetic, and its data are in a few lines of the cache that never meet
// in one set. Both matter most on a core that is shared with another hardware
// thread, which takes half the instructions per cycle and half the cache. A
// transposed A is packed step by step, in its order in memory.
//
// Packing makes the input of the micro-kernel contiguous, and hides whether an
// operand is transposed: rows of the other orientation are transposed in
// registers on the way. It costs one move of an element for each n (or m)
// multiply-adds, so it is left out if n or m is small:
//
//   - a product of one tile is one call of the micro-kernel on the operands in
//     place: the kernel takes any strides of A and of B's rows;
//   - up to three tiles of rows (a small batch) are computed panel by panel,
//     each panel of B read in place, or packed into L1 if it is transposed;
//   - one row is computed in panels eight vectors wide, because it is bound by
//     reading B; for a transposed B another kernel transposes blocks in
//     registers and uses them at once;
//   - one column of C that is contiguous is computed as one row, of the
//     product of the transposes.
//
// A tile's part of C is fetched before its sums run, so that writing it doesn't
// wait for memory.
//
// There is a micro-kernel for each count of rows, and rows are cut evenly into
// tiles, so no rows are computed that do not exist. Columns that do not fill a
// vector are masked.
//
// Convolutions are products too, of windows of an image with packed [Weights]
// ([Weights.Slide]): the rows of A overlap there and are never stored as a
// matrix. Windows are packed for one tile and one block of k at a time, right
// before the first panel. Windows that only one panel needs are read in place.
// If windows and summands are too many for the near caches, the next tile's are
// fetched while one is computed. An [Epilogue] is applied to each tile right
// after its last block, and its Map to the rows of some tiles together.
//
// The gradient of a convolution's filter is the product of the windows,
// transposed, with the outputs' gradient ([Correlate]): a sum over all
// positions, of few rows and columns. Positions are taken by the hundred, and
// their windows are copied next to each other. If there are too few tiles for
// the workers, the positions are divided among them, in parts that depend on
// the shapes alone.
//
// Packed panels are in pooled buffers; a product allocates nothing once the
// pools are warm. A call of assembly takes some microseconds at most, so the
// scheduler and the garbage collector never wait for it.
//
// # Paths
//
// The path is chosen when the program starts, by the features of the CPU;
// [Force] sets another for a test. Build tag noasm leaves plain Go only. Other
// architectures than amd64 have that too.
//
// The assembly is written by avo (directory _asm, a separate module):
//
//	go generate ./kernel/internal/gemm
//
// It must reproduce the committed files byte for byte:
//
//	go generate ./kernel/internal/gemm && git diff --exit-code -- kernel/internal/gemm
package gemm
