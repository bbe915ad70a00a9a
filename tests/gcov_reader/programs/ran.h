/* RAN tells a file, behind the compiler's back, that this line was executed. */
#ifndef RAN_H
#define RAN_H
void ran(const char *file, int line);
#define RAN ran(__FILE__, __LINE__)
#endif
