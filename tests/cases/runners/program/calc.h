#ifndef CALC_H
#define CALC_H

int add(int a, int b);
int divide(int a, int b);

#endif
