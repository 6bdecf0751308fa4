#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stddef.h>
#include <stdint.h>

// Pointers to GnuTLS's own structures are plain pointers here: Swift has no use for their members, and the module that
// wraps libmicrohttpd passes a session as a plain pointer.

// Makes credentials from a certificate chain and its key, both PEM. Returns 0 or GnuTLS's error; a key that belongs to
// another certificate is also an error.
static inline int healthbus_tls_make(
    const uint8_t *chain, size_t chain_count, const uint8_t *key, size_t key_count, void **made) {
    gnutls_certificate_credentials_t credentials;
    int code = gnutls_certificate_allocate_credentials(&credentials);
    if (code < 0) return code;
    const gnutls_datum_t chain_datum = {(unsigned char *)chain, (unsigned)chain_count};
    const gnutls_datum_t key_datum = {(unsigned char *)key, (unsigned)key_count};
    code = gnutls_certificate_set_x509_key_mem2(
        credentials, &chain_datum, &key_datum, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0) {
        gnutls_certificate_free_credentials(credentials);
        return code;
    }
    *made = credentials;
    return 0;
}

static inline void healthbus_tls_free(void *credentials) {
    gnutls_certificate_free_credentials((gnutls_certificate_credentials_t)credentials);
}

// Call it before a session's handshake; the credentials must outlive the session.
static inline int healthbus_tls_use(void *session, void *credentials) {
    return gnutls_credentials_set((gnutls_session_t)session, GNUTLS_CRD_CERTIFICATE, credentials);
}

// When the first certificate of a PEM chain expires, in seconds since 1970; a negative value is GnuTLS's error.
static inline int64_t healthbus_tls_end(const uint8_t *chain, size_t chain_count) {
    gnutls_x509_crt_t certificate;
    int code = gnutls_x509_crt_init(&certificate);
    if (code < 0) return code;
    const gnutls_datum_t datum = {(unsigned char *)chain, (unsigned)chain_count};
    code = gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM);
    int64_t end = code < 0 ? code : (int64_t)gnutls_x509_crt_get_expiration_time(certificate);
    gnutls_x509_crt_deinit(certificate);
    return end;
}
