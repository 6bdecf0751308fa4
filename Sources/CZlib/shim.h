#include <zlib.h>

// inflateInit2 is a macro in C, which Swift can't call.
static inline int healthbus_inflate_begin(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
