# What the suites in bash share. They set $client and $release, the client's name and version.

# say OUTCOME NAME [REASON]: print the line of a check of $client.
say() {
  printf '%s\t%s\t%s\t%s' "$client" "$release" "$1" "$2"
  [ $# -lt 3 ] || printf '\t%s' "$(printf %s "$3" | tr '\t\r\n' '   ' | cut -c 1-300)"
  printf '\n'
}

# check NAME FUNCTION: a check. The function's status says whether it is ok, its output
# why not.
check() {
  local out
  if out=$("$2" 2>&1); then say ok "$1"; else say FAIL "$1" "$out"; fi
}

# same GOT WANT: compare two texts.
same() {
  [ "$1" = "$2" ] || { echo "got: $1; want: $2"; return 1; }
}

# like TEXT PATTERN …: the text has a line for each extended regular expression.
like() {
  local text=$1 pattern
  shift
  for pattern; do
    grep -qE -- "$pattern" <<<"$text" || { echo "no $pattern in: $text"; return 1; }
  done
}
