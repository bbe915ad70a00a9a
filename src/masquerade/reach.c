/* Linked into every program and library that counts with clang, itself without counters.
 *
 * Clang's runtime keeps the counters in a file from the start. Where it cannot make the file, it says so to nobody who would
 * listen, and the process goes on without.
 */
PLACE(strays) = GIT_RTS_PLACE "/";

__attribute__((constructor)) static void git_rts_try_folder(void)
{
    const char *pattern = getenv("LLVM_PROFILE_FILE");
    char name[4096 + 64];
    const char *end;
    int file = -1;
    if (!pattern || !*pattern)
        pattern = strays;
    end = strrchr(pattern, '/');
    if (end && end - pattern < 4096) {
        snprintf(name, sizeof name, "%.*s/reached-%ld-%lx", (int)(end - pattern), pattern, (long)getpid(),
                 (unsigned long)&git_rts_try_folder);
        file = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    }
    if (file < 0) {
        git_rts_tell();
        return;
    }
    close(file);
    unlink(name);
}
