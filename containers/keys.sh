#!/bin/sh
# Fills the volumes that all other services wait for, with a key pair for each process and with the token that the
# backend and the uploader share. Existing files are kept, so this script can run at every start.
set -eu
umask 077
healthbus keys init
token=$HEALTHBUS_STATE/secrets/backend-token
if [ ! -s "$token" ]; then
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$token.new"
    mv "$token.new" "$token"
fi
