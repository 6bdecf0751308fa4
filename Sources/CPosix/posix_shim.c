#include "posix_shim.h"
