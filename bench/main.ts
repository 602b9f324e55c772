/**
 * `npm run bench`: how fast a compiled server answers, against one written by hand. `npm run bench -- <name>` runs others:
 * `compile` (how long it takes to compile one), `swaps` (cost of changes while it serves), `writes` (how fast it writes),
 * `accounts` (cost of tokens and of signing in), `graphql` (how fast it answers documents), `shapes` (nested reads over
 * many shapes of data), `optimizations` (what each of them saves), `operations` (cost of metrics and of the log), `links` (objects with nothing but a key),
 * `row-security` (cost of passing callers on to policies), `search` (words among a million rows), `vectors` (neighbours found under rules) and `growth` (plots of
 * how cost grows). See README.md beside this file.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { benchAccounts } from './accounts.ts';
import { benchCompile } from './compile.ts';
import { benchGraphql } from './graphql.ts';
import { benchGrowth } from './growth.ts';
import { benchKeyLinks } from './key-links.ts';
import { benchOperations } from './operations.ts';
import { benchOptimizations } from './optimizations.ts';
import { benchReads } from './reads.ts';
import { benchRowSecurity } from './row-security.ts';
import { measuredDatabases } from './scenarios.ts';
import { benchSearch } from './search.ts';
import { benchShapes } from './shapes.ts';
import { benchSwaps } from './swaps.ts';
import { benchVectors } from './vectors.ts';
import { writeNames } from './write-scenarios.ts';
import { benchWrites } from './writes.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    database: { type: 'string', default: 'postgres' },
    quick: { type: 'boolean', default: false },
  },
});

/** The benches that measure servers in rounds. */
const served = new Map([
  ['reads', benchReads],
  ['writes', benchWrites],
  ['graphql', benchGraphql],
]);
/** Seconds of a round, where there are many. */
const shortRounds: Readonly<Record<string, string>> = {
  shapes: '0.5',
  optimizations: '1',
  operations: '0.025',
  links: '0.7',
  'row-security': '2',
  growth: '1',
};
const isWrite = (name: string): boolean => writeNames.some((known) => known === name);
const [job = values.only.some(isWrite) ? 'writes' : 'reads', ...rest] = positionals;
const database = measuredDatabases.find((name) => name === values.database);
const others = [
  'compile',
  'swaps',
  'accounts',
  'shapes',
  'optimizations',
  'operations',
  'links',
  'row-security',
  'search',
  'vectors',
  'growth',
];
const isKnown = [...served.keys(), ...others].includes(job);
if (rest.length > 0 || !isKnown || database === undefined || (database !== 'postgres' && job !== 'reads')) {
  process.stderr.write(
    'Usage: npm run bench -- [reads | writes | graphql | compile | swaps | accounts | shapes | optimizations | operations | links | row-security | search | vectors | growth] [--rounds N] [--seconds N] [--connections N] [--only NAME] [--json FILE]\n' +
      '       npm run bench -- reads --database mariadb | mysql\n' +
      '       npm run bench -- shapes --quick\n',
  );
  process.exitCode = 2;
} else if (job === 'compile') await benchCompile();
else if (job === 'swaps') await benchSwaps();
else if (job === 'accounts') {
  await benchAccounts({ rounds: roundsOf(), effort: effortOf() });
} else if (job === 'operations') {
  await benchOperations({ starts: roundsOf('10'), effort: effortOf() });
} else if (job === 'links') {
  await benchKeyLinks({ rounds: roundsOf('7'), effort: effortOf() });
} else if (job === 'row-security') {
  await benchRowSecurity({ rounds: roundsOf(), effort: effortOf() });
} else if (job === 'search') {
  await benchSearch();
} else if (job === 'vectors') {
  await benchVectors();
} else if (job === 'optimizations') {
  await benchOptimizations({ rounds: roundsOf(), effort: effortOf(), only: values.only });
} else if (job === 'growth') {
  await benchGrowth({ rounds: roundsOf(), seconds: effortOf().seconds, only: values.only });
} else if (job === 'shapes') {
  const { only, json, quick } = values;
  await benchShapes({ rounds: roundsOf('9'), effort: effortOf(), only, quick, ...(json !== undefined && { json }) });
} else {
  await (served.get(job) ?? benchReads)({
    rounds: roundsOf(),
    effort: effortOf(),
    only: values.only,
    database,
    ...(values.json !== undefined && { json: values.json }),
  });
}

function roundsOf(usual = '5'): number {
  return positive(values.rounds ?? usual);
}

/** There are some hundred shapes, so rounds are short. They are asked for by as many as there are cores: who has more backends waiting gets more of a busy machine. */
function effortOf() {
  const cores = String(Math.max(2, availableParallelism()));
  const { seconds = shortRounds[job] ?? '4', connections = job === 'shapes' ? cores : '32' } = values;
  return { seconds: positive(seconds, false), connections: positive(connections) };
}

function positive(text: string, isWhole = true): number {
  const number = Number(text);
  const isAble = isWhole ? Number.isInteger(number) : Number.isFinite(number);
  if (!isAble || number <= 0) throw new RangeError(`"${text}" is not a positive ${isWhole ? 'whole ' : ''}number.`);
  return number;
}
