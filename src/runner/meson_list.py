# Prints what `meson test` reads in a build folder, as JSON.
# All in one function: Meson evaluates this where names at the top do not see each other.
def main():
    import json, os, pickle

    # As `meson test` sets them where they are not set.
    halt = 'halt_on_error=1:abort_on_error=1:print_summary=1'
    defaults = {'ASAN_OPTIONS': halt, 'UBSAN_OPTIONS': halt + ':print_stacktrace=1', 'MSAN_OPTIONS': halt + ':print_stacktrace=1'}

    def environment(test, before):
        return test.env.get_env(dict(before)) if hasattr(test.env, 'get_env') else {**before, **test.env}

    def entry(test):
        before = dict(os.environ)
        after = {**defaults, **environment(test, before)}
        changed = {name: value for name, value in after.items() if before.get(name) != value}
        changed.update({name: None for name in before if name not in after})
        fails = getattr(test, 'should_fail', None)
        fails = getattr(test, 'expected_fail', False) if fails is None else fails
        code = getattr(test, 'expected_exitcode', None)
        return {
            'name': test.name,
            'cmd': ([test.fname] if isinstance(test.fname, str) else list(test.fname)) + list(test.cmd_args),
            'env': environment(test, {}),
            'changes': changed,
            'workdir': test.workdir,
            'timeout': test.timeout,
            'suite': list(test.suite),
            'is_parallel': test.is_parallel,
            'protocol': str(test.protocol),
            'expects_failure': bool(fails),
            'is_beyond_us': bool(test.needs_exe_wrapper or test.is_cross_built or code),
        }

    with open('meson-private/meson_test_setup.dat', 'rb') as file:
        print(json.dumps([entry(test) for test in pickle.load(file)]))

main()
