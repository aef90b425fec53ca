# SPDX-License-Identifier: Apache-2.0
# For Doxygen: "@retval as pprf_punct, and ..." is no result's name; each function that a comment names is linked.
s/@retval as /@return As /
/^ ?(\*|\/\*\*)/{
  s/\<pprf_[a-z_]+\>([^(]|$)/#&/g
  s/#(pprf_[a-z_]+\.h)/\1/g
}
