#!/bin/sh
# Runs one test of the suite by its name.
case $1 in
sum-*) [ "$(./checks print "${1#sum-}" 40)" = "the sum is $((${1#sum-} + 40))" ] ;;
*) ./checks "$1" ;;
esac
