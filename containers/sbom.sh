#!/bin/sh
# The bill of materials of the image that this script runs in: SPDX 2.3, JSON. Debian's packages as listed by dpkg, the
# Swift runtime beside the programs, and healthbus itself, which has no other dependency (Package.swift names none).
#
# sbom.sh <version of healthbus>
set -eu
version=${1:-unversioned}
here=$(dirname "$(readlink -f "$0")")
swift=$(cat "$here/swift-version")
created=$(date -u +%Y-%m-%dT%H:%M:%SZ)
# shellcheck disable=SC2016
dpkg-query -W -f '${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n' |
    awk -F '\t' -v version="$version" -v swift="$swift" -v created="$created" '
function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
function identifier(text) { gsub(/[^A-Za-z0-9.-]/, "-", text); return "SPDXRef-" text }
function package(id, name, version, supplier, licence, purl) {
    printf "%s    {\n      \"SPDXID\": %s,\n      \"name\": %s,\n      \"versionInfo\": %s,\n", (count++ ? ",\n" : ""),
        quoted(id), quoted(name), quoted(version)
    printf "      \"supplier\": %s,\n      \"downloadLocation\": \"NOASSERTION\",\n      \"filesAnalyzed\": false,\n", quoted(supplier)
    printf "      \"licenseConcluded\": \"NOASSERTION\",\n      \"licenseDeclared\": %s,\n      \"copyrightText\": \"NOASSERTION\"", quoted(licence)
    if (purl != "")
        printf ",\n      \"externalRefs\": [\n        { \"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": %s }\n      ]", quoted(purl)
    printf "\n    }"
    ids[count] = id
}
function escaped(text) { gsub(/%/, "%25", text); gsub(/\+/, "%2B", text); gsub(/:/, "%3A", text); gsub(/~/, "~", text); return text }
BEGIN {
    print "{\n  \"spdxVersion\": \"SPDX-2.3\",\n  \"dataLicense\": \"CC0-1.0\",\n  \"SPDXID\": \"SPDXRef-DOCUMENT\","
    printf "  \"name\": %s,\n", quoted("healthbus-" version)
    printf "  \"documentNamespace\": %s,\n", quoted("urn:healthbus:sbom:" version ":" created)
    printf "  \"creationInfo\": { \"created\": %s, \"creators\": [\"Tool: healthbus-sbom\"] },\n  \"packages\": [\n", quoted(created)
    package("SPDXRef-healthbus", "healthbus", version, "NOASSERTION", "MIT", "")
    package("SPDXRef-swift-runtime", "swift-runtime", swift, "NOASSERTION", "Apache-2.0 WITH Swift-exception", "pkg:swift/github.com/swiftlang/swift@" swift)
}
$1 ~ /^.i/ {
    package(identifier("deb-" $2 "-" $4), $2, $3, "Organization: Debian", "NOASSERTION",
        "pkg:deb/debian/" escaped($2) "@" escaped($3) "?arch=" $4 "&distro=bookworm")
}
END {
    print "\n  ],\n  \"relationships\": ["
    print "    { \"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-healthbus\" }"
    for (i = 2; i <= count; i++)
        printf "    ,{ \"spdxElementId\": \"SPDXRef-healthbus\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": %s }\n", quoted(ids[i])
    print "  ]\n}"
}'
