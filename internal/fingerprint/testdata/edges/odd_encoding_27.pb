

opKL