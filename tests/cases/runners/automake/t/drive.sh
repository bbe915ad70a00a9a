#!/bin/sh
[ "$(../checks print 20 22)" = "the sum is 42" ]
