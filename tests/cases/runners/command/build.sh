#!/bin/sh
set -e
cc -c -o calc.o calc.c
cc -o checks checks.c calc.o
