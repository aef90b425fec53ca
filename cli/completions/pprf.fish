# SPDX-License-Identifier: Apache-2.0
# fish: the commands, and the options of the command that is typed, are asked of the program's --help.
complete -c pprf -f -n __fish_is_first_token \
    -a '(pprf --help 2> /dev/null | string replace -rf "^  ([a-z]+)  +(.*)" "\$1\t\$2")'
complete -c pprf -n 'not __fish_is_first_token' \
    -a '(pprf (commandline -opc)[2] --help 2> /dev/null | string replace -rf "^  [- ].[, ] (--[a-z-]+=?)\S* *(.*)" "\$1\t\$2")'
