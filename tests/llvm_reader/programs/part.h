static int part(int x) {
    switch (x) {
#include "cases.h"
    }
    return 0;
}
