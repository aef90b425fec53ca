#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a release, SPDX 2.3 in JSON: its files with their SHA-256, the libraries
that its programs are linked with, another project's file in the tree, and the crates in
bindings/rust/Cargo.lock.

Usage: sbom.py VERSION TREE FILE...   prints it; SOURCE_DATE_EPOCH is its date"""
import hashlib
import json
import os
import re
import sys
import time
import tomllib

HOME = "https://github.com/libpprf/libpprf"
LINKED = {"openssl": "pkg:generic/openssl", "hiredis": "pkg:generic/hiredis", "jansson": "pkg:generic/jansson",
          "libcbor": "pkg:generic/libcbor", "cffi": "pkg:pypi/cffi"}  # any version


def package(name, version, purl, digest=None, licence="NOASSERTION", where="NOASSERTION"):
    made = {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.]", "-", f"{name}-{version or 'any'}"), "name": name,
            "downloadLocation": where, "filesAnalyzed": False, "licenseDeclared": licence,
            "licenseConcluded": licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl}]}
    if version:
        made["versionInfo"] = version
    if digest:
        made["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    return made


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    version, tree, *files = sys.argv[1:]
    ours, theirs = [], [package(name, None, purl) for name, purl in LINKED.items()]
    for path in sorted(files):
        name = os.path.basename(path)
        ours.append(package(name, version, f"pkg:github/libpprf/libpprf@v{version}#{name}", sha256(path), "Apache-2.0",
                            f"{HOME}/releases/download/v{version}/{name}"))
    header = package("redismodule.h", "7.0.15", "pkg:github/redis/redis@7.0.15#src/redismodule.h",
                     sha256(os.path.join(tree, "valkey", "redismodule", "redismodule.h")), "BSD-3-Clause")
    with open(os.path.join(tree, "bindings", "rust", "Cargo.lock"), "rb") as file:
        theirs += [package(crate["name"], crate["version"], "pkg:cargo/%(name)s@%(version)s" % crate, crate["checksum"])
                   for crate in tomllib.load(file)["package"] if "checksum" in crate]
    of_all = hashlib.sha256("".join(p["checksums"][0]["checksumValue"] for p in ours).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"libpprf-{version}", "documentNamespace": f"{HOME}/spdx/{version}-{of_all}",
        "creationInfo": {"creators": ["Tool: libpprf-sbom.py"], "created": time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))},
        "packages": ours + [header] + theirs,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": p["SPDXID"]}
            for p in ours] + [
            {"spdxElementId": ours[-1]["SPDXID"], "relationshipType": "CONTAINS",
             "relatedSpdxElement": header["SPDXID"]}] + [
            {"spdxElementId": ours[-1]["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": p["SPDXID"]}
            for p in theirs]}, sys.stdout, indent=1)
    print()


main()
