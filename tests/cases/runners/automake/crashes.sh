#!/bin/sh
exec ./checks crash
