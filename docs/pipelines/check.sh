#!/bin/sh
# Judges a pull request of a project: nothing is written but the report, and no database is needed.
# Usage: check.sh [revision to compare with]; PLATFORM is the command, REPORT the file for the report.
set -eu

base=${1:-origin/main}
platform=${PLATFORM:-npx platform}
report=${REPORT:-diff.md}

# What others have added to the base since the branch began is no part of the change.
from=$base
if ! git merge-base --is-ancestor "$base" HEAD; then
  from=$(git merge-base "$base" HEAD) || {
    echo "$base and this branch have no commit in common: fetch the whole history." >&2
    exit 2
  }
fi

# What the change means, for people to read: first, so that they have it whatever else is wrong.
isNew=
if git cat-file -e "$from:./platform.schema.json" 2>/dev/null; then
  $platform diff "$from" --acknowledged acknowledged-changes.txt --format markdown --fail-on never --output "$report"
else
  isNew=yes
  echo "The project is new: $base has no platform.schema.json to compare with." | tee "$report"
fi

# What is committed fits: the output is what the inputs give, and so is the table of rights.
$platform generate --check --offline
$platform check --offline
$platform permissions matrix --output permissions.md --check

# Fails on a breaking change that nobody has acknowledged in this pull request.
test -n "$isNew" || $platform diff "$from" --acknowledged acknowledged-changes.txt
