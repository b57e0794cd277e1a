

more	

again