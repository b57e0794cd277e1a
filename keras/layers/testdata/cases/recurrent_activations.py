"""Cases of SimpleRNN, LSTM and GRU with each activation."""
from tf_keras import layers

seq = (2, 3, 3)

CASES = []
for a in ["linear", "relu", "elu", "selu", "softplus", "softsign", "swish", "gelu", "mish", "exponential", "hard_sigmoid", "sigmoid", "softmax"]:
    CASES += [
        dict(name=f"simple_{a}", layer=lambda a=a: layers.SimpleRNN(3, activation=a), inputs=[seq]),
        dict(name=f"lstm_{a}", layer=lambda a=a: layers.LSTM(3, activation=a, recurrent_activation="hard_sigmoid"), inputs=[seq]),
        dict(name=f"gru_{a}", layer=lambda a=a: layers.GRU(3, activation=a, recurrent_activation=a if a != "exponential" else "tanh"), inputs=[seq]),
    ]
