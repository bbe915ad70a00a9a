#define EACH(i, n) for (i = 0; i < n; i++)
#define CHECK(x) if (x) return 1;
#define CAT(a, b) a##b
enum e { A, B = 5, C };
struct s { int a, b : 3; int (*cb)(int, char *p); };
static int table[] = { 1, [3] = 2 };
int f(int a, struct s *p)
{
  static int count = 3;
  int i, v[a];
  EACH(i, 4) { if (a && p->b || !(i & 1)) continue; else break; }
  CHECK(a)
  switch (a) { case A: case 1 ... 3: i = a ? 1 : f(2, p); break; default: goto out; }
  do { i--; } while (i > 0 && CAT(a, b));
#ifdef X
  if (a) {
#else
  if (i) {
#endif
    return 2;
  }
  for (int j = 0; j < 3; j++) ;
out:
  asm volatile("nop");
  goto *v[0];
}
int g(x, y) int x; char *y; { return ({ int z = x; z; }); }
