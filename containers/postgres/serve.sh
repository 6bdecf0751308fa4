#!/bin/sh
# On the first start, creates the cluster with a password that is stored only in the file with the URL; then becomes the
# server.
set -eu
umask 077
programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
data=/var/lib/healthbus-postgres/data
url=/var/lib/healthbus-database/url
if [ ! -s "$data/PG_VERSION" ]; then
    password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    printf '%s\n' "$password" > password.new
    rm -rf "$data.new"
    "$programs/initdb" -D "$data.new" -U postgres --pwfile=password.new --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    printf 'host all all all scram-sha-256\n' >> "$data.new/pg_hba.conf"
    # This is done before clients can connect over the network.
    "$programs/pg_ctl" -D "$data.new" -w -o "-c listen_addresses= -c unix_socket_directories=/tmp" start
    PGPASSWORD=$password "$programs/psql" -h /tmp -U postgres -v ON_ERROR_STOP=1 -q <<SQL
CREATE ROLE healthbus LOGIN PASSWORD '$password';
CREATE DATABASE health OWNER healthbus;
REVOKE ALL ON DATABASE health FROM PUBLIC;
SQL
    "$programs/pg_ctl" -D "$data.new" -w stop
    printf 'postgresql://healthbus:%s@postgres-server:5432/health\n' "$password" > "$url.new"
    mv "$url.new" "$url"
    rm password.new
    mv "$data.new" "$data"
fi
exec "$programs/postgres" -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp
