/** `npm run topology -- pg` makes a topology of real servers, runs its cases, prints their table and stops it. */
import { makeDataFolder, removeDataFolder } from '../support/data-folder.ts';
import { galera } from './galera.ts';
import { mysql } from './mysql.ts';
import { patroni } from './patroni.ts';
import { pg } from './pg.ts';
import { printRows, type Topology } from './report.ts';
import { servers } from './servers.ts';

const topologies: Readonly<Record<string, Topology>> = { pg, patroni, galera, mysql, servers };

const [wanted = 'all', form] = process.argv.slice(2);
const chosen = Object.entries(topologies).filter(([name]) => wanted === 'all' || name === wanted);
if (chosen.length === 0) {
  process.stderr.write(
    `There is no topology "${wanted}": name one of ${Object.keys(topologies).join(', ')}, or all.\n`,
  );
  process.exit(2);
}
let isMet = true;
for (const [name, { missing, run }] of chosen) {
  process.stdout.write(`\n${name}\n\n`);
  if (missing !== null) {
    process.stdout.write(`skipped: ${missing}\n`);
    continue;
  }
  const folder = makeDataFolder('topology');
  const start = performance.now();
  try {
    const rows = await run(folder, form === 'short');
    isMet &&= rows.every((row) => row.isMet);
    process.stdout.write(`${printRows(rows)}\n\n${Math.round((performance.now() - start) / 1000)} s\n`);
  } finally {
    removeDataFolder(folder);
  }
}
process.exit(isMet ? 0 : 1);
