package ops_test

import (
	"math"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// ragged returns the parts of ragged tensors.
func ragged(list ...ops.Ragged) []*ops.Value {
	var out []*ops.Value
	for _, r := range list {
		out = append(out, r.Values, r.RowSplits)
	}
	return out
}

func stringCalls() map[string]call {
	type in = inputs
	type vs = []*ops.Value
	utf8 := &ops.StringOptions{UTF8: true}
	comma := ","
	return map[string]call{
		"StringJoin": func(s *ops.Scope, in in) vs {
			return values(ops.StringJoin(s, []ops.Input{in["words"], "=", in["words"]}, "-"))
		},
		"StringLength": func(s *ops.Scope, in in) vs {
			return pair(ops.StringLength(s, in["words"]), ops.StringLength(s, in["words"], utf8))
		},
		"Substr": func(s *ops.Scope, in in) vs {
			words := ops.StridedSlice(s, in["words"], ops.From(1))
			return pair(ops.Substr(s, words, -2, 5), ops.Substr(s, words, 1, 2, utf8))
		},
		"Lower": func(s *ops.Scope, in in) vs { return pair(ops.Lower(s, in["words"]), ops.Lower(s, in["words"], utf8)) },
		"Upper": func(s *ops.Scope, in in) vs { return pair(ops.Upper(s, in["words"]), ops.Upper(s, in["words"], utf8)) },
		"Strip": unary(ops.Strip, "lines"),
		"RegexReplace": func(s *ops.Scope, in in) vs {
			return pair(ops.RegexReplace(s, in["lines"], `(\w)o`, `<\1>`), ops.RegexReplace(s, in["lines"], "o", "0", &ops.RegexReplaceOptions{First: true}))
		},
		"RegexFullMatch": func(s *ops.Scope, in in) vs { return values(ops.RegexFullMatch(s, in["lines"], ".*o.*")) },
		"ToNumber": func(s *ops.Scope, in in) vs {
			return pair(ops.ToNumber(s, in["numerals"], tensor.Float32), ops.ToNumber(s, ops.Const(s, []string{"12", "-7"}), tensor.Int64))
		},
		"AsString": func(s *ops.Scope, in in) vs {
			return values(ops.AsString(s, in["x"]), ops.AsString(s, in["x"], &ops.AsStringOptions{Precision: new(2), Width: 8, Fill: "0"}),
				ops.AsString(s, in["x"], &ops.AsStringOptions{Scientific: true, Precision: new(3)}), ops.AsString(s, in["x"], &ops.AsStringOptions{Shortest: true}), ops.AsString(s, in["ints"]), ops.AsString(s, in["p"]))
		},
		"ToHashBucket":     func(s *ops.Scope, in in) vs { return values(ops.ToHashBucket(s, in["words"], 1000)) },
		"ToHashBucketFast": func(s *ops.Scope, in in) vs { return values(ops.ToHashBucketFast(s, in["words"], 1000)) },
		"ToHashBucketStrong": func(s *ops.Scope, in in) vs {
			return values(ops.ToHashBucketStrong(s, in["words"], 1000, [2]int64{1, 2}))
		},
		"StringSplit": func(s *ops.Scope, in in) vs {
			return ragged(ops.StringSplit(s, in["lines"], ""), ops.StringSplit(s, in["lines"], "o", &ops.StringSplitOptions{MaxSplit: 1}), ops.StringSplit(s, "a,b,,c", ","))
		},
		"BytesSplit": func(s *ops.Scope, in in) vs { return ragged(ops.BytesSplit(s, in["words"])) },
		"RaggedOfRows": func(s *ops.Scope, in in) vs {
			return ragged(ops.RaggedOfRows(s, []float32{5, 6, 7}, []int64{0, 2, 2}, ops.Const(s, int64(4))))
		},
		"ReduceJoin": func(s *ops.Scope, in in) vs {
			return values(ops.ReduceJoin(s, in["table"], "+"), ops.ReduceJoin(s, in["table"], "", 0), ops.ReduceJoin(s, in["table"], "/", 1, 0))
		},
		"UnsortedSegmentJoin": func(s *ops.Scope, in in) vs {
			return values(ops.UnsortedSegmentJoin(s, []string{"a", "b", "c"}, []int32{1, 0, 1}, 3, ":"))
		},
		"NGrams": func(s *ops.Scope, in in) vs {
			rows := ops.StringSplit(s, in["lines"], "")
			return ragged(ops.NGrams(s, rows, []int{2}), ops.NGrams(s, rows, []int{1, 3}, &ops.NGramsOptions{Separator: &comma, LeftPad: "<", RightPad: ">"}),
				ops.NGrams(s, rows, []int{4}, &ops.NGramsOptions{LeftPad: "<", RightPad: ">", PadWidth: 1, KeepShort: true}))
		},
		"StringFormat": func(s *ops.Scope, in in) vs {
			return values(ops.StringFormat(s, "x is {}, p {}", []ops.Input{in["x"], in["p"]}), ops.StringFormat(s, "%", []ops.Input{ops.Range(s, 0, 20, 1)}, &ops.StringFormatOptions{Placeholder: "%", Summarize: -1}))
		},
		"EncodeBase64": func(s *ops.Scope, in in) vs {
			return pair(ops.EncodeBase64(s, in["words"]), ops.EncodeBase64(s, in["words"], &ops.EncodeBase64Options{Pad: true}))
		},
		"DecodeBase64": func(s *ops.Scope, in in) vs { return values(ops.DecodeBase64(s, ops.EncodeBase64(s, in["words"]))) },
		"UnicodeDecode": func(s *ops.Scope, in in) vs {
			return ragged(ops.UnicodeDecode(s, in["broken"], "UTF-8"), ops.UnicodeDecode(s, in["broken"], "UTF-8", &ops.UnicodeOptions{Errors: ops.IgnoreInvalid}), ops.UnicodeDecode(s, in["broken"], "UTF-8", &ops.UnicodeOptions{Replacement: 'x', ReplaceControl: true}))
		},
		"UnicodeDecodeWithOffsets": func(s *ops.Scope, in in) vs {
			points, at := ops.UnicodeDecodeWithOffsets(s, in["words"], "UTF-8")
			return ragged(points, at)
		},
		"UnicodeEncode": func(s *ops.Scope, in in) vs {
			return values(ops.UnicodeEncode(s, ops.UnicodeDecode(s, in["words"], "UTF-8"), "UTF-16-BE"))
		},
		"UnicodeTranscode": func(s *ops.Scope, in in) vs {
			return pair(ops.UnicodeTranscode(s, in["words"], "UTF-8", "UTF-32-BE"), ops.UnicodeTranscode(s, in["broken"], "UTF-8", "UTF-8"))
		},
		"UnicodeSplit": func(s *ops.Scope, in in) vs { return ragged(ops.UnicodeSplit(s, in["words"])) },
		"UnicodeScript": func(s *ops.Scope, in in) vs {
			return values(ops.UnicodeScript(s, []int32{'a', 'я', '字', 0x10ffff, -1}))
		},
		"Real": unary(ops.Real, "complex"), "Imag": unary(ops.Imag, "complex"), "Angle": unary(ops.Angle, "complex"),
		"Complex": binary(ops.Complex, "x", "z"),
		"NewTensorArray": func(s *ops.Scope, in in) vs {
			a := ops.NewTensorArray(s, tensor.Float32, 3, 2).Write(s, 2, []float32{1, 2}).Write(s, 0, []float32{3, 4})
			return values(a.Stack(s), a.Size(s), a.Read(s, 1))
		},
		"TensorArrayOf": func(s *ops.Scope, in in) vs {
			a := ops.TensorArrayOf(s, in["square"])
			joined, sizes := ops.NewTensorArray(s, tensor.Float32, 0, -1, 4).Split(s, in["square"], []int64{1, 3}).Concat(s)
			b, last := a.Push(s, in["vector"]).Pop(s)
			return values(a.Gather(s, []int32{3, 1}), joined, sizes, last, b.Resize(s, 2).Stack(s), a.Scatter(s, []int32{1}, ops.ExpandDims(s, in["vector"], 0)).Stack(s))
		},
	}
}

func linalgCalls() map[string]call {
	type in = inputs
	type vs = []*ops.Value
	full := &ops.FullOptions{Full: true}
	// The results of decompositions are unique but for signs, so products of them are
	// compared.
	product := func(s *ops.Scope, u, d, v *ops.Value) *ops.Value {
		return ops.MatMul(s, ops.Mul(s, u, ops.ExpandDims(s, d, -2)), v, &ops.MatMulOptions{TransposeB: true})
	}
	return map[string]call{
		"Cholesky": unary(ops.Cholesky, "definite"),
		"CholeskySolve": func(s *ops.Scope, in in) vs {
			return values(ops.CholeskySolve(s, ops.Cholesky(s, in["definite"]), in["right"]))
		},
		"Inverse": func(s *ops.Scope, in in) vs {
			return pair(ops.Inverse(s, in["solvable"]), ops.Inverse(s, in["solvable"], &ops.SolveOptions{Adjoint: true}))
		},
		"Solve": func(s *ops.Scope, in in) vs {
			return pair(ops.Solve(s, in["solvable"], in["right"]), ops.Solve(s, in["solvable"], in["right"], &ops.SolveOptions{Adjoint: true}))
		},
		"TriangularSolve": func(s *ops.Scope, in in) vs {
			return pair(ops.TriangularSolve(s, in["solvable"], in["right"]), ops.TriangularSolve(s, in["solvable"], in["right"], &ops.TriangularSolveOptions{Upper: true, Adjoint: true}))
		},
		"LeastSquares": func(s *ops.Scope, in in) vs {
			return values(ops.LeastSquares(s, in["tall"], in["tallright"]), ops.LeastSquares(s, in["tall"], in["tallright"], &ops.LeastSquaresOptions{Regularizer: 0.5}), ops.LeastSquares(s, in["tall"], in["tallright"], &ops.LeastSquaresOptions{Complete: true}))
		},
		"Det":     unary(ops.Det, "solvable"),
		"SLogDet": func(s *ops.Scope, in in) vs { return pair(ops.SLogDet(s, in["solvable"])) },
		"LogDet":  unary(ops.LogDet, "definite"),
		"QR": func(s *ops.Scope, in in) vs {
			q, r := ops.QR(s, in["tall"])
			qf, rf := ops.QR(s, in["tall"], full)
			return values(ops.MatMul(s, q, r), ops.Abs(s, r), ops.Shape(s, qf), ops.MatMul(s, qf, rf))
		},
		"SVD": func(s *ops.Scope, in in) vs {
			d, u, v := ops.SVD(s, in["tall"])
			_, uf, _ := ops.SVD(s, in["tall"], full)
			return values(d, product(s, u, d, v), ops.Shape(s, uf))
		},
		"SingularValues": unary(ops.SingularValues, "tall"),
		"Eigh": func(s *ops.Scope, in in) vs {
			d, v := ops.Eigh(s, in["definite"])
			return values(d, product(s, v, d, v))
		},
		"EighValues": unary(ops.EighValues, "definite"),
		"Eig": func(s *ops.Scope, in in) vs {
			d, v := ops.Eig(s, in["definite"])
			return values(ops.Sort(s, ops.Real(s, d)), ops.Shape(s, v))
		},
		"EigValues": func(s *ops.Scope, in in) vs {
			return values(ops.Sort(s, ops.Real(s, ops.EigValues(s, in["definite"]))))
		},
		"LU": func(s *ops.Scope, in in) vs { return pair(ops.LU(s, in["solvable"])) },
		"Expm": func(s *ops.Scope, in in) (out vs) {
			a := in["solvable"]
			for _, k := range []float64{0.25, 0.01, 0.001, 1, 8} {
				out = append(out, ops.Expm(s, ops.Mul(s, a, k)))
			}
			infinite := ops.Div(s, a, [][][]float64{{{0}}, {{1}}})
			small := ops.Cast(s, ops.Mul(s, a, 0.1), tensor.Float32)
			return append(out, ops.Imag(s, ops.Expm(s, ops.Complex(s, a, a))), ops.Expm(s, small), ops.Imag(s, ops.Expm(s, ops.Mul(s, ops.Cast(s, small, tensor.Complex64), 1i))),
				ops.Expm(s, infinite), ops.Expm(s, ops.Zeros(s, tensor.Float64, 2, 0, 0)))
		},
		"Logm": func(s *ops.Scope, in in) vs {
			return values(ops.Real(s, ops.Logm(s, ops.Complex(s, in["definite"], ops.ZerosLike(s, in["definite"])))))
		},
		"Sqrtm": unary(ops.Sqrtm, "definite"),
		"Pinv":  func(s *ops.Scope, in in) vs { return pair(ops.Pinv(s, in["tall"], 0), ops.Pinv(s, in["tall"], 0.5)) },
		"MatVec": func(s *ops.Scope, in in) vs {
			return pair(ops.MatVec(s, in["square"], in["vector"]), ops.MatVec(s, in["square"], in["vector"], &ops.MatMulOptions{TransposeA: true}))
		},
		"MatrixTranspose": unary(ops.MatrixTranspose, "cube"), "Adjoint": unary(ops.Adjoint, "cube"), "MatrixTrace": unary(ops.MatrixTrace, "batch"),
		"SetDiag": func(s *ops.Scope, in in) vs {
			return pair(ops.SetDiag(s, in["square"], in["vector"]), ops.SetDiag(s, in["square"], []float32{1, 2, 3}, -1))
		},
		"OffDiag": func(s *ops.Scope, in in) vs {
			return pair(ops.OffDiag(s, in["vector"], 1), ops.OffDiag(s, in["vector"], -2))
		},
		"OffDiagPart": func(s *ops.Scope, in in) vs {
			return pair(ops.OffDiagPart(s, in["batch"], 1), ops.OffDiagPart(s, in["square"], -2))
		},
		"TridiagonalSolve": func(s *ops.Scope, in in) vs {
			return pair(ops.TridiagonalSolve(s, in["diagonals"], in["diagonalsright"]), ops.TridiagonalSolve(s, in["diagonals"], in["diagonalsright"], &ops.TridiagonalSolveOptions{NoPivoting: true}))
		},
		"TridiagonalMatMul": binary(ops.TridiagonalMatMul, "diagonals", "diagonalsright"),
		"BandedTriangularSolve": func(s *ops.Scope, in in) vs {
			return pair(ops.BandedTriangularSolve(s, in["bands"], in["diagonalsright"]), ops.BandedTriangularSolve(s, in["bands"], in["diagonalsright"], &ops.TriangularSolveOptions{Upper: true}))
		},
		"Cross": func(s *ops.Scope, in in) vs { return values(ops.Cross(s, in["batch"], ops.Reverse(s, in["batch"], 2))) },
		"NormOf": func(s *ops.Scope, in in) vs {
			return values(ops.NormOf(s, in["cube"], 1, 1), ops.NormOf(s, in["cube"], math.Inf(1)), ops.NormOf(s, in["cube"], 3, 0, 2))
		},
		"MatrixNorm": func(s *ops.Scope, in in) vs {
			return values(ops.MatrixNorm(s, in["stack"], ops.FrobeniusNorm), ops.MatrixNorm(s, in["stack"], ops.OneNorm), ops.MatrixNorm(s, in["stack"], ops.SpectralNorm), ops.MatrixNorm(s, in["stack"], ops.InfinityNorm))
		},
	}
}
