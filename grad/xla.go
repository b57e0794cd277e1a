package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// xlaRules are the rules of XLA's ops that TensorFlow's CPU runs.
var xlaRules = map[string]Rule{
	"XlaEinsum":   gradEinsum,
	"XlaSharding": gradXlaSharding,

	"XlaSpmdFullToShardShape": gradXlaFullToShard,
	"XlaSpmdShardToFullShape": gradXlaShardToFull,
}

// gradXlaSharding marks the gradient as the value is marked.
func gradXlaSharding(s *ops.Scope, op *Op) {
	op.Give(0, s.Emit1("XlaSharding", op.Attrs(), op.Grad(0)))
}

// gradXlaFullToShard makes the gradient of a shard one of the whole value. Without the shape
// for its mark it has no mark: on one device a shard is the whole value.
func gradXlaFullToShard(s *ops.Scope, op *Op) {
	full := op.In(0).Fact().Shape
	if _, known := full.Tensor(); !known {
		op.Give(0, op.Grad(0))
		return
	}
	op.Give(0, s.Emit1("XlaSpmdShardToFullShape", op.Attrs().Set(graph.Shape("full_shape", full)), op.Grad(0)))
}

// gradXlaShardToFull makes the gradient of the whole value one of a shard.
func gradXlaShardToFull(s *ops.Scope, op *Op) {
	op.Give(0, s.Emit1("XlaSpmdFullToShardShape", op.Attrs().Without("full_shape"), op.Grad(0)))
}
