/**
 * Every operation of the thirteen system resources, REST and GraphQL, on MariaDB and MySQL, with accounts and with texts of a
 * project's own tables: the answers are PostgreSQL's, but for identifiers and instants. So they are whatever character set
 * databases have by default, and where the server keeps names of tables in lower case.
 * Source: service specification; API specification, sections 10, 12 and 14.3.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemDatabase, type FamilyDefaults, onMariadb } from '../support/contract-database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, startUnchecked } from '../support/platform.ts';
import { askRows, others, rows, type Said, said } from '../support/resource-walk.ts';
import { servers } from '../support/servers.ts';
import { askAccounts, askTexts, textTables } from '../support/text-walk.ts';

const resources = [...rows.map(({ name }) => name), ...Object.keys(others)];
const walks = [...resources, 'accounts', 'texts'];
/** Those that change tables, after which the server compiles again. */
const model = ['collections', 'fields', 'relations'];

/** Every day each setting of the one goes with one of the other; with `EVERY_SUITE=1` each goes with all. */
const settings = (['as written', 'lower case'] as const).flatMap((names) =>
  (['latin1', 'utf8mb3', 'utf8mb4'] as const).map((characterSet): FamilyDefaults => ({ names, characterSet })),
);
const everyDay = {
  mariadb: ['utf8mb4 as written', 'latin1 lower case', 'utf8mb3 as written'],
  mysql: ['utf8mb4 as written', 'latin1 as written', 'utf8mb3 lower case'],
};

async function askAll(
  names: FamilyDefaults['names'],
  isAsked = (_: string) => true,
): Promise<ReadonlyMap<string, readonly Said[]>> {
  const database = await createSystemDatabase(
    `CREATE TABLE notes (id integer PRIMARY KEY, text varchar(40)); INSERT INTO notes VALUES (1, 'one');${textTables}`,
  );
  const project = await createProject();
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  await generateHosted(project.folder, database.url);
  const platform = await startUnchecked(project.folder, database.url, {}, []);
  try {
    const told = new Map<string, readonly Said[]>();
    told.set('accounts', (await askAccounts(platform)).map(said));
    told.set('texts', (await askTexts(platform, names === 'lower case' ? 'shelves' : 'Shelves')).map(said));
    for (const one of rows) told.set(one.name, (await askRows(platform, one)).map(said));
    for (const [name, ask] of Object.entries(others)) {
      if (isAsked(name)) told.set(name, (await ask(platform)).map(said));
    }
    return told;
  } finally {
    await platform.stop();
    await project.remove();
    await database.drop();
  }
}

it('there are thirteen', () => expect(new Set(resources).size).toBe(13));

describe.each(servers)('on $name', ({ dialect, missing }) => {
  if (missing) return void it.skip('is not there');

  const asked = settings.filter(
    ({ names, characterSet }) =>
      process.env.EVERY_SUITE !== undefined || everyDay[dialect].includes(`${characterSet} ${names}`),
  );

  describe.each(asked)('$characterSet, names of tables $names', (defaults) => {
    // Statements that change tables name their character set, so one with another set is enough.
    const isAsked = (name: string): boolean => defaults.characterSet !== 'utf8mb3' || !model.includes(name);
    let here: ReadonlyMap<string, readonly Said[]>;
    beforeAll(async () => {
      reference ??= askAll('as written');
      await reference;
      const back = onMariadb(dialect, defaults);
      here = await askAll(defaults.names, isAsked).finally(back);
    }, 120_000);

    it.each(walks.filter(isAsked))('%s', async (name) => {
      const there = (await reference)?.get(name) ?? [];
      expect(here.get(name)).toEqual(there);
      // No operation fails for a reason of ours.
      expect(there.filter(([, status]) => status >= 500)).toEqual([]);
      expect(there.length).toBeGreaterThan(3);
    });
  });
});

let reference: Promise<ReadonlyMap<string, readonly Said[]>> | undefined;
afterAll(() => {
  reference = undefined;
});
