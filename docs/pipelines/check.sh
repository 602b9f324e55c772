#!/bin/sh
# Judges a pull request of a project: nothing is written but the report, and no database is needed.
# Usage: check.sh [revision to compare with]; PLATFORM is the command, REPORT the file for the report.
set -eu

base=${1:-origin/main}
platform=${PLATFORM:-npx platform}

# What is committed fits: the output is what the inputs give, and so is the table of rights.
$platform generate --check --offline
$platform check --offline
$platform permissions matrix --output permissions.md --check

# What the change means, for people to read.
$platform diff "$base" --format markdown --fail-on never --output "${REPORT:-diff.md}"

# Fails on a breaking change that nobody has acknowledged in this pull request.
$platform diff "$base" --acknowledged acknowledged-changes.txt
