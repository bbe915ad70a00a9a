#!/bin/sh
# Installed by 'git rts hook install'; 'git rts hook uninstall' removes it.
# What was here before is kept beside it with the ending .before-rts, and runs first.
name=${0##*/}
before=$0.before-rts
program=@PROGRAM@
[ -x "$program" ] || program=$(command -v git-rts)

# Only pre-push is told something, and both must hear it.
input=
[ "$name" != pre-push ] || input=$(cat)
told() { [ -z "$input" ] || printf '%s\n' "$input"; }
heard() { if [ "$name" = pre-push ]; then told | "$@"; else "$@"; fi; }

status=0
if [ -x "$before" ]; then
  heard "$before" "$@"
  status=$?
  case $name in pre-*) [ "$status" = 0 ] || exit "$status" ;; esac
fi
if [ -z "$program" ]; then
  echo "warning: 'git-rts' is not in PATH, so nothing was tested" >&2
  exit "$status"
fi
heard "$program" hook run "$name" "$@" || case $name in pre-*) exit 1 ;; esac
exit "$status"
