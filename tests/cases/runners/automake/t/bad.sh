#!/bin/sh
exec ../checks wrong
