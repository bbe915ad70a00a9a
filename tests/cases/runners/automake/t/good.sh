#!/bin/sh
exec ../checks add
