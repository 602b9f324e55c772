#!/usr/bin/env node
'use strict';
// Syntax of Node 8, as `platform.cjs` of the command is: what would be made needs a newer Node to run.
const oldest = 24;
const running = process.versions.node;

if (Number(running.split('.')[0]) < oldest) {
  process.stderr.write(`tablewright needs Node ${oldest} or newer; this is ${running}.\n`);
  process.exitCode = 2;
} else require(entry());

/** The program from source in the repository, compiled in the published package. */
function entry() {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const isRepository = existsSync(join(__dirname, '../tsconfig.build.json'));
  return join(__dirname, isRepository ? '../src/main.ts' : '../dist/main.js');
}
