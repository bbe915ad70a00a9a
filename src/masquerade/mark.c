/* Linked into every program and library that counts with gcc, itself without counters.
 *
 * gcc's runtime writes counters when a process ends by exit, and in no other case. So each process leaves a mark in the
 * folder of its test when it starts, and takes it away once its counters are written. A mark that stays tells of
 * counters that were lost. Each program and library has its own runtime, its own copy of this, and its own mark.
 */
#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Before gcc's own constructors and behind its destructors, which have the priority 100. */
#define OUTERMOST 50

/* gcc's runtime. */
void __gcov_dump(void);
void __gcov_reset(void);

int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
extern void *__dso_handle HIDDEN;

/* The copies in one process know each other, because an exec ends them all. */
struct copy {
    struct copy *next;
    int is_joined;
    void (*write)(void);
    void (*resume)(void);
};

static void write_counters(void);
static void resume(void);

static struct copy git_rts_copy __attribute__((used)) = {&git_rts_copy, 0, write_counters, resume};

/* By this note the copies find each other; no symbol is exported for it. */
__asm__(".pushsection .note.git-rts,\"a\",%note\n"
        ".balign 4\n"
        ".long 8, 4, 1\n"
        ".asciz \"git-rts\"\n"
        ".long git_rts_copy - .\n"
        ".popsection\n");

enum { ROOM = 4096 + 96 };

static char folder[4096];
static char mark[ROOM];
static pid_t owner;
/* One page that only this address space sees: empty in a child of fork, not in one of vfork. */
static volatile char *memory;

/* Names a file in the folder as no other process does, and makes it: a link, because that needs no free descriptor. It
 * points to the name of the program. */
static void leave(const char *kind, char *name)
{
    struct timespec now = {0, 0};
    name[0] = 0;
    if (folder[0]) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(name, ROOM, "%s/%s-%ld-%lld.%09ld-%lx", folder, kind, (long)getpid(), (long long)now.tv_sec,
                 now.tv_nsec, (unsigned long)&git_rts_copy);
        if (symlink(program_invocation_short_name, name) != 0)
            name[0] = 0;
    }
}

static void leave_mark(void)
{
    int error = errno;
    owner = getpid();
    if (memory)
        *memory = 1;
    leave("running", mark);
    if (!mark[0])
        git_rts_tell();
    errno = error;
}

/* Whether counters got to the folder of the mark: a program may have changed its environment, or used up its descriptors. */
static int reaches_folder(void)
{
    const char *prefix = getenv("GCOV_PREFIX");
    const char *strip = getenv("GCOV_PREFIX_STRIP");
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return 0;
    close(file);
    return prefix && !strcmp(prefix, folder) && (!strip || !strcmp(strip, "0"));
}

/* Takes the mark away, because the counters are written. */
static void take_mark_away(void)
{
    int error = errno;
    if (owner == getpid() && mark[0] && reaches_folder()) {
        unlink(mark);
        mark[0] = 0;
    }
    errno = error;
}

static void write_counters(void)
{
    __gcov_dump();
    take_mark_away();
}

/* After an exec that failed: what was written must not be written again. */
static void resume(void)
{
    __gcov_reset();
    leave_mark();
}

/* Joins another copy, if this object has one. */
static int join_one(struct dl_phdr_info *info, size_t size, void *nothing)
{
    (void)size;
    (void)nothing;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        size_t align = segment->p_align == 8 ? 8 : 4;
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note;
            size_t described = (sizeof *note + note->n_namesz + align - 1) & ~(align - 1);
            size_t whole = (described + note->n_descsz + align - 1) & ~(align - 1);
            if (note->n_namesz == 8 && note->n_descsz == 4 && !memcmp(name, "git-rts", 8)) {
                const int32_t *place = (const void *)(name + 8);
                struct copy *other = (struct copy *)((char *)place + *place);
                if (other != &git_rts_copy && other->is_joined) {
                    git_rts_copy.next = other->next;
                    other->next = &git_rts_copy;
                    return 1;
                }
            }
            if (whole > (size_t)(end - at))
                break;
            at += whole;
        }
    }
    return 0;
}

#define VARIABLE "GIT_RTS_MARKS_IN"

/* Reads a file of a process, as much as there is room for, and ends it with a null. */
static size_t read_about(long process, const char *what, char *text, size_t room)
{
    char path[64];
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%ld/%s", process, what);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t more;
        while (length < room - 1 && (more = read(file, text + length, room - 1 - length)) > 0)
            length += more;
        close(file);
    }
    text[length] = 0;
    return length;
}

/* The folder as an ancestor knows it, for a program that was started without its environment. Counters do not reach
 * that folder, so the mark will stay. */
static void ask_ancestors(void)
{
    enum { TEXT = 1 << 17 };
    char *text = mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return;
    long process = getppid();
    while (process > 1 && !folder[0]) {
        size_t length = read_about(process, "environ", text, TEXT);
        for (char *at = text; at < text + length; at += strlen(at) + 1)
            if (!strncmp(at, VARIABLE "=", sizeof VARIABLE) && strlen(at) < sizeof folder)
                strcpy(folder, at + sizeof VARIABLE);
        read_about(process, "stat", text, TEXT);
        const char *name_end = strrchr(text, ')');
        process = 0;
        if (name_end)
            sscanf(name_end + 1, " %*c %ld", &process);
    }
    munmap(text, TEXT);
}

__attribute__((constructor(OUTERMOST))) static void begin(void)
{
    const char *given = getenv(VARIABLE);
    int error = errno;
    if (given && strlen(given) < sizeof folder)
        strcpy(folder, given);
    else
        ask_ancestors();
    memory = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise((void *)memory, 1, MADV_WIPEONFORK) != 0)
        memory = NULL;
    leave_mark();
    __register_atfork(NULL, NULL, leave_mark, __dso_handle);
    dl_iterate_phdr(join_one, NULL);
    git_rts_copy.is_joined = 1;
    errno = error;
}

__attribute__((destructor(OUTERMOST))) static void end(void)
{
    struct copy *before = &git_rts_copy;
    while (before->next != &git_rts_copy)
        before = before->next;
    before->next = git_rts_copy.next;
    git_rts_copy.next = &git_rts_copy;
    git_rts_copy.is_joined = 0;
    /* gcc's own destructor has written what this program or library counted. To write now would write what others in the
     * process have counted so far, and nothing of what they still do. */
    take_mark_away();
}

/* Before the process becomes another program, all counters in it are written; answers whether they were. */
static int before_exec(void)
{
    struct copy *copy = &git_rts_copy;
    char became[ROOM];
    if (owner != getpid()) {
        /* The child of a vfork counts in the memory of its parent, which goes on and writes all. */
        if (memory && *memory)
            return 0;
        /* It cannot be told whose memory it is. This mark stays. */
        if (!memory)
            leave_mark();
    }
    /* gcc takes an exec for a call that returns, so its sums are wrong from here on: whoever reads them must know. */
    leave("became", became);
    do
        copy->write();
    while ((copy = copy->next) != &git_rts_copy);
    return 1;
}

static int after_exec(int was_written)
{
    struct copy *copy = &git_rts_copy;
    int error = errno;
    if (was_written)
        do
            copy->resume();
        while ((copy = copy->next) != &git_rts_copy);
    errno = error;
    return -1;
}

/* gcc calls these in place of the functions without the prefix. Its own would write only what one library counted, and
 * in the child of a vfork they would keep the parent from writing. */
HIDDEN int __gcov_execve(const char *path, char *const arguments[], char *const environment[])
{
    int was_written = before_exec();
    execve(path, arguments, environment);
    return after_exec(was_written);
}

HIDDEN int __gcov_execv(const char *path, char *const arguments[])
{
    return __gcov_execve(path, arguments, environ);
}

HIDDEN int __gcov_execvp(const char *file, char *const arguments[])
{
    int was_written = before_exec();
    execvp(file, arguments);
    return after_exec(was_written);
}

/* The list of arguments as an array, on the stack of the caller; `list` stands behind the closing null pointer then. */
#define COLLECT(arguments, first, list)                          \
    size_t count = 0;                                            \
    va_start(list, first);                                       \
    for (char *one = first; one; one = va_arg(list, char *))     \
        count++;                                                 \
    va_end(list);                                                \
    char **arguments = alloca((count + 1) * sizeof *arguments);  \
    va_start(list, first);                                       \
    arguments[0] = first;                                        \
    for (size_t i = 1; i <= count; i++)                          \
        arguments[i] = va_arg(list, char *)

HIDDEN int __gcov_execl(const char *path, char *first, ...)
{
    va_list list;
    COLLECT(arguments, first, list);
    va_end(list);
    return __gcov_execv(path, arguments);
}

HIDDEN int __gcov_execlp(const char *file, char *first, ...)
{
    va_list list;
    COLLECT(arguments, first, list);
    va_end(list);
    return __gcov_execvp(file, arguments);
}

HIDDEN int __gcov_execle(const char *path, char *first, ...)
{
    va_list list;
    COLLECT(arguments, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return __gcov_execve(path, arguments, environment);
}
