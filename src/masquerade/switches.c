/* Linked into every program and library of a build in which mutants are chosen at run time.
 *
 * It says whether a mutant is on. While none is, it notes which of them are reached, a byte for each in a file that is mapped: so
 * what was noted is there however the process ends, and forks and threads note in the same place. Who was started without its
 * environment looks in a folder that it knows. Who can do neither tells so.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

PLACE(on_file) = GIT_RTS_PLACE "/on";
PLACE(strays_file) = GIT_RTS_PLACE "/reached";

static volatile int is_ready;
static int on;
static volatile unsigned char *reached;
static long known;

static int git_rts_chosen(void)
{
    const char *chosen = getenv("GIT_RTS_SWITCH");
    char text[32] = "";
    int file;
    if (chosen)
        return atoi(chosen);
    file = open(on_file, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = 0;
    close(file);
    return atoi(text);
}

static void git_rts_note_in(const char *name)
{
    struct stat found;
    void *place = MAP_FAILED;
    int file = open(name, O_RDWR | O_CLOEXEC);
    if (file >= 0 && fstat(file, &found) == 0 && found.st_size > 0)
        place = mmap(0, found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (place == MAP_FAILED) {
        git_rts_tell();
        return;
    }
    known = found.st_size;
    reached = place;
}

__attribute__((constructor(101))) static void git_rts_get_ready(void)
{
    int before = errno;
    int chosen;
    const char *name;
    if (is_ready)
        return;
    chosen = git_rts_chosen();
    if (chosen < 0)
        git_rts_tell();
    if (chosen == 0) {
        name = getenv("GIT_RTS_SWITCHES_REACHED");
        git_rts_note_in(name ? name : strays_file);
    }
    on = chosen > 0 ? chosen : 0;
    is_ready = 1;
    errno = before;
}

__attribute__((visibility("hidden"))) int git_rts_switch(int number)
{
    /* A constructor of another library may come before ours. */
    if (!is_ready)
        git_rts_get_ready();
    if (reached && number < known && !reached[number])
        reached[number] = 1;
    return number == on;
}
