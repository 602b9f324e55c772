#!/usr/bin/env node
'use strict';
// Syntax of Node 8: a version that is too old parses this file, and is told so in one sentence.
const oldest = 24;
const running = process.versions.node;

if (Number(running.split('.')[0]) < oldest) refuse(`tablewright needs Node ${oldest} or newer; this is ${running}.`);
else if (process.versions.pnp)
  refuse(
    'tablewright needs packages in node_modules; Plug and Play keeps them elsewhere.',
    'Write `nodeLinker: node-modules` into .yarnrc.yml, and run `yarn install`.',
  );
else require(entry());

/** The command from source in the repository, compiled in the published package, which has nothing to build itself with. */
function entry() {
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const isRepository = existsSync(join(__dirname, '../tsconfig.build.json'));
  return join(__dirname, isRepository ? '../src/main.ts' : '../dist/main.js');
}

/** Says what `tellError` says of other mistakes of a call, for people and as an event. */
function refuse(message, hint = null) {
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ event: 'error', message, hint })}\n`);
  }
  process.stderr.write(hint === null ? `${message}\n` : `${message}\n${hint}\n`);
  process.exitCode = 2;
}
