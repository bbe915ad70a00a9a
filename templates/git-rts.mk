# Targets that run the tests which a change can affect. At the end of the Makefile or Makefile.am in the top folder:
# include git-rts.mk
#
#   make check-affected         builds a copy with counters, runs and records: 'git rts run'
#   make check-affected-here    runs the affected tests of this build, by 'check' of each folder with its part of TESTS
#
# make BASE=origin/main sets what to compare with; by default, where the branch left its upstream.
GIT_RTS = git rts
BASE =

check-affected:
	$(GIT_RTS) run $(BASE)

# A selection that fails must not look like one that is empty. Where Automake made the Makefile, 'check' would go on to other folders.
check-affected-here: all
	@list=`$(GIT_RTS) select $(BASE) --format automake` || exit; \
	printf '%s\n' "$$list" | { failed=0; while read -r folder tests; do \
	  test -n "$$tests" || continue; \
	  target=check; \
	  if grep '^check-am:' "$$folder"/[Mm]akefile >/dev/null 2>&1; then target=check-am; fi; \
	  $(MAKE) -C "$$folder" $$target TESTS="$$tests" </dev/null || failed=1; \
	done; exit $$failed; }

.PHONY: check-affected check-affected-here
