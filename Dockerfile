# One image for all processes of a stack: docs/containers.md.
#
# The base images by name, and by digest where a build is to be repeated to the byte: --build-arg DEBIAN_DIGEST=@sha256:…
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG SWIFT_DIGEST=
ARG DEBIAN_IMAGE=debian:bookworm-slim
ARG DEBIAN_DIGEST=

FROM ${SWIFT_IMAGE}${SWIFT_DIGEST} AS build
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make pkg-config libzmq3-dev \
        libsqlite3-dev libcbor-dev libarchive-dev libcurl4-openssl-dev libmicrohttpd-dev libgnutls28-dev libxxhash-dev \
        libsodium-dev libqrencode-dev zlib1g-dev libpq-dev libmosquitto-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift Makefile ./
COPY Sources Sources
COPY plugins plugins
ENV HEALTHBUS_WITHOUT_TESTS=1
RUN swift build --configuration release --no-color-diagnostics
COPY configs configs
COPY containers containers
RUN containers/stage.sh "$(swift build --configuration release --show-bin-path)" /out/usr/lib/healthbus

FROM ${DEBIAN_IMAGE}${DEBIAN_DIGEST} AS runtime
# Python is for handlers in that language, such as the example's.
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates libarchive13 \
        libcbor0.8 libjs-chart.js libcurl4 libgnutls30 libmicrohttpd12 libmosquitto1 libpq5 libpython3.11-stdlib libqrencode4 libsodium23 \
        libsqlite3-0 libzmq5 python3-minimal tzdata zlib1g \
    && apt-get clean && rm -rf /var/lib/apt/lists/* /var/cache/debconf/* /var/log/apt /var/log/dpkg.log
# What nobody reads in a container; licences stay.
RUN rm -rf /usr/share/locale/* /usr/share/man/* /usr/share/info/* \
    && find /usr/share/doc -type f ! -name copyright -delete && find /usr -name '*.pyc' -delete
ARG HEALTHBUS_UID=10001
RUN groupadd --gid ${HEALTHBUS_UID} healthbus \
    && useradd --uid ${HEALTHBUS_UID} --gid healthbus --no-create-home --home-dir /var/lib/healthbus \
        --shell /usr/sbin/nologin healthbus
COPY --from=build /out /
ARG HEALTHBUS_VERSION=unversioned
RUN ln -s ../lib/healthbus/healthbus /usr/bin/healthbus \
    && install -d /usr/share/doc/healthbus \
    && /usr/lib/healthbus/containers/sbom.sh "${HEALTHBUS_VERSION}" > /usr/share/doc/healthbus/sbom.spdx.json

# One layer, without what the ones before it took away again.
FROM scratch
COPY --from=runtime / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# A volume takes its owner and rights from what lies at its place in the image: for each plugin's key, and for people's.
ARG HEALTHBUS_UID=10001
RUN install -d -m 0700 -o ${HEALTHBUS_UID} -g ${HEALTHBUS_UID} /var/lib/healthbus /var/lib/healthbus/secrets \
        /var/lib/healthbus-keys \
    && for name in $(cd /usr/lib/healthbus/plugins && ls -d */ | tr -d /) cli tap; do \
        install -d -m 0700 -o ${HEALTHBUS_UID} -g ${HEALTHBUS_UID} "/var/lib/healthbus-keys/$name"; done
USER ${HEALTHBUS_UID}:${HEALTHBUS_UID}
WORKDIR /var/lib/healthbus
ENV HEALTHBUS_STATE=/var/lib/healthbus HEALTHBUS_KEYS=/var/lib/healthbus-keys HEALTHBUS_LOG=json LC_ALL=C.UTF-8
ENTRYPOINT ["healthbus"]
CMD ["--help"]
