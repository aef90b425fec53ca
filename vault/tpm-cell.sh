#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A vault's cell in an NV index of a TPM 2.0, by tpm2-tools: pprf vault create V --cell 'tpm-cell.sh 0x1500020'
# Make the index once: tpm2_nvdefine 0x1500020 -C o -s 32 -a 'ownerread|ownerwrite|no_da'
# usage: tpm-cell.sh INDEX [OPTION of tpm2_nvread and tpm2_nvwrite, such as -P]... read|write
set -eu
index=$1
shift
while [ $# -gt 1 ]; do
  options="${options-} $1"
  shift
done
# shellcheck disable=SC2086 # several words
case $1 in
  read)
    public=$(tpm2_nvreadpublic "$index")
    case $public in # an index that was never written prints nothing
      *friendly:*\|written*) tpm2_nvread "$index" -C o -s 32 ${options-} ;;
    esac ;;
  write) tpm2_nvwrite "$index" -C o -i - ${options-} ;;
  *) echo "tpm-cell.sh: read or write, not $1" >&2; exit 1 ;;
esac
