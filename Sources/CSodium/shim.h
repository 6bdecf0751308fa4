// Three parts of libsodium, which libzmq needs for CURVE: a hash, a hash with a key, and a comparison in constant time.
// None needs sodium_init.
#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>
