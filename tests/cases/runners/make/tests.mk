TESTS = add wrong crash $(addprefix sum-,1 2) slow
