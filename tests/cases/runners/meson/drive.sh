#!/bin/sh
# Drives the program, from the folder of the script.
[ -f drive.sh ] || exit 1
[ "$("$1" print 20 22)" = "the sum is 42" ]
