// Package passes rewrites functions before the engine compiles them: it removes
// nodes, replaces several nodes by one, and computes constants in advance. [Default]
// and [Inference] return the lists of passes, and [Without] removes passes from a
// list:
//
//	engine.CompileOptions{Passes: passes.Without(passes.Inference(), "attention")}
//
// The passes, in their order. List is the list that contains the pass. Bits is
// "stay" if results keep all their bits and "round" if they may differ by rounding.
// A pass that makes an op does nothing if that op has no kernel.
//
//	Pass                   List       Bits   Matches                                           Makes
//	inlining               both       stay   a call of a function without Switch and Merge     the nodes of the function
//	identity chains        both       stay   Identity, IdentityN, Snapshot, StopGradient and   its input
//	                                         PreventGradient
//	constant folding       both       stay   a node without effects, of constants              Const, up to 64 KiB
//	no-ops                 both       stay   ops whose output equals an input, such as Mul     that input
//	                                         by 1 and Transposes that cancel each other
//	recurrences            inference  round  While whose body is the cell of an LSTM or GRU    _LSTM, _GRU
//	layouts of sequences   inference  stay   Transpose and ReverseV2 around _LSTM and _GRU     layouts and backwards of these
//	products               inference  round  Einsum and BatchMatMul of two matrices            Reshape, MatMul, Reshape
//	common subexpressions  both       stay   nodes with equal ops, attributes and inputs       one of them
//	variable updates       both       stay   assignments to variables of one shape, and the    _UpdateVariables
//	                                         elementwise ops that compute their values
//	padding                inference  round  Pad and PadV2 with zeros before a convolution     padding of the convolution
//	scales                 inference  round  Mul and RealDiv by an invariant number after      Mul of the weights
//	                                         a product with weights
//	attention              inference  stay   softmax of the scaled products of queries with    _Attention
//	                                         keys, times values
//	gelu                   inference  round  x/2·(1 + erf(x/√2)), and the form with tanh       _Gelu
//	layer norm             inference  round  (x - mean)/√(variance + ε)·γ + β over the last    _LayerNorm
//	                                         dimension
//	batch norm             inference  round  FusedBatchNorm with invariant moments, and Mul,   Mul of the weights, BiasAdd;
//	                                         AddV2 and Sub of invariant vectors                or Mul, AddV2
//	convolutions           default    stay   Conv2D and DepthwiseConv2dNative, then BiasAdd    _FusedConv2D and
//	                                         and an activation                                 _FusedDepthwiseConv2dNative
//	epilogues              inference  round  the same, and MatMul; then also a residual        these, and _FusedMatMul
//	rows                   inference  stay   _FusedMatMul with weights and _LayerNorm over     _Rows
//	                                         the same rows
//	elementwise chains     both       stay   elementwise ops whose results have one user       _Elementwise
//	fast functions         inference  round  float32 ops with exp, tanh or erf                 attribute _fast
//
// A value is invariant if it depends on constants and variables alone, and no node
// of the function can write to these variables before.
//
// A pass is a function over a [Unit]. It searches the function's nodes for a
// pattern, checks that no other node uses the values that disappear, and replaces
// the last node of the pattern in place, so that its users need no change.
package passes
