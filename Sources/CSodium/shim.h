// Two parts of libsodium, which libzmq needs for CURVE: a hash, and a comparison in constant time. Neither needs
// sodium_init.
#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>
