// libmosquitto: the client library of the Mosquitto broker.
#include <mosquitto.h>

// Plain numbers, because Swift would import enumerations as types of their own.
static const int healthbus_mosquitto_success = MOSQ_ERR_SUCCESS;
static const int healthbus_mosquitto_errno = MOSQ_ERR_ERRNO;
static const int healthbus_mosquitto_tls = MOSQ_ERR_TLS;

// Trusts the same certificate authorities as the machine.
static inline int healthbus_mosquitto_use_system_authorities(struct mosquitto *client) {
    return mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
}
