/**
 * Connections to MariaDB and MySQL that break while something is written: everything or nothing stays, also where the
 * answer to COMMIT was lost, and what is sent again under its key is done once. Source: reliability notes, R1 to R3.
 *
 * `FAULTS=200` runs as many as a proof needs, of all requests; without it a sample is run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../support/fault-proxy.ts';
import { type FaultyMysql, startFaultyMysql } from '../support/faulty-mysql.ts';
import { startHosted } from '../support/host.ts';
import { numbers } from '../support/numbers.ts';
import type { Answer, Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { expectReadAgain, manyThings } from './faults/interrupted-reads.ts';
import { type Scenario, scenarios } from './faults/scenarios.ts';

const faults = Number(process.env.FAULTS ?? 8);
const sample = ['create many', 'create under a key', 'update a tree', 'delete one'];
const asked = process.env.FAULTS === undefined ? scenarios.filter(({ name }) => sample.includes(name)) : scenarios;

const twice = ['cut', 'swallow'] as const;
/** What may happen. Until a server gives up a client that says nothing any more it takes 10 seconds, or 20 on MySQL. */
const kinds: readonly Fault[] = process.env.FAULTS === undefined ? twice : ([...twice, ...twice, 'stall'] as const);

const tables = `
  CREATE TABLE things (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL UNIQUE, value int);
  CREATE TABLE parts (id int AUTO_INCREMENT PRIMARY KEY, label varchar(40), thing_id int, FOREIGN KEY (thing_id) REFERENCES things (id));
  CREATE TABLE tags (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40) UNIQUE);
  CREATE TABLE parts_tags (part_id int, tag_id int, PRIMARY KEY (part_id, tag_id),
    FOREIGN KEY (part_id) REFERENCES parts (id), FOREIGN KEY (tag_id) REFERENCES tags (id))`;

const reset = `DELETE FROM parts_tags; DELETE FROM tags; DELETE FROM parts; DELETE FROM things;
  DELETE FROM platform_revisions; DELETE FROM platform_activity; DELETE FROM platform_idempotency_keys;
  INSERT INTO things (id, name, value) VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
  INSERT INTO parts (id, label, thing_id) VALUES (1, 'kept', 1), (2, 'gone', 1), (3, 'moved', 2), (4, 'loose', NULL), (5, 'looser', NULL);
  INSERT INTO tags (id, name) VALUES (1, 't1'), (2, 't2');
  INSERT INTO parts_tags VALUES (1, 1), (2, 2)`;

/** Everything that a request may leave. Keys are left out: those that a lost try took are not given again. */
const stateSql = `SELECT name, value FROM things ORDER BY name;
  SELECT label, t.name FROM parts LEFT JOIN things t ON t.id = thing_id ORDER BY label;
  SELECT label, t.name FROM parts_tags JOIN parts p ON p.id = part_id JOIN tags t ON t.id = tag_id ORDER BY label, t.name;
  SELECT name FROM tags ORDER BY name;
  SELECT action, collection FROM platform_activity ORDER BY id;
  SELECT JSON_UNQUOTE(JSON_EXTRACT(delta, '$.name')) AS name FROM platform_revisions ORDER BY id;
  SELECT status FROM platform_idempotency_keys`;

/** As it is sent; a session that is set up says READ COMMITTED. */
const commit = /COMMIT$/;

describe.each(servers)('on $name', ({ missing, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let faulty: FaultyMysql;
  let platform: Platform;
  beforeAll(async () => {
    faulty = await startFaultyMysql({ start, exact }, tables);
    platform = await startHosted(faulty.folder, faulty.proxy().url, {
      DATABASE_POOL_MAX: '8',
      DATABASE_STATEMENT_TIMEOUT: '2s',
    });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await faulty?.close();
  });

  function send({ method, path, body, headers = {} }: Scenario): Promise<Answer> {
    return platform.admin(`/items/${path}`, { method, headers, ...(body !== undefined && { body }) });
  }

  const rows = (sql: string) => faulty.rows(sql);

  describe.each(asked)('$name', (scenario) => {
    it.each(['cut', 'swallow'] as const)(
      '%s: at every flight in turn',
      async (fault) => {
        await rows(reset);
        const nothing = await rows(stateSql);
        expect((await send(scenario)).status).toBeLessThan(300);
        const everything = await rows(stateSql);
        expect(everything).not.toEqual(nothing);
        let flight = 0;
        do {
          flight += 1;
          await rows(reset);
          faulty.proxy().armAt(fault, flight);
          const { status, text } = await send(scenario);
          expect([200, 204, 503], text).toContain(status);
          const told = `${fault} at ${flight}: ${status}`;
          expect({ told, state: await rows(stateSql) }).toEqual({ told, state: status === 503 ? nothing : everything });
        } while (faulty.proxy().done() > 0);
        // The last round met no fault, and those before it at least the write and its COMMIT.
        expect(flight).toBeGreaterThan(4);
      },
      120_000,
    );
  });

  it('reads a list once more where its connection is lost amid its rows', async () => {
    await rows(`${reset}; ${manyThings(3)}`);
    await expectReadAgain(platform, faulty.proxy());
  });

  it(`tells the end of ${faults} transactions whose COMMIT has no answer: none partial, lost or doubled`, async () => {
    await rows(reset);
    for (let turn = 0; turn < faults; turn++) {
      faulty.proxy().arm(turn % 2 === 0 ? 'swallow' : 'cut', commit, 1 + (turn % 3));
      const headers = turn % 4 < 2 ? {} : { 'idempotency-key': `turn ${turn}`.replace(' ', '-') };
      const body = ['x', 'y'].map((part) => ({ name: `${turn}${part}`, parts: [{ label: 'of a turn' }] }));
      const answers = await Promise.all(
        [body, [{ name: `${turn}z` }]].map((items, place) =>
          send({
            name: '',
            method: 'POST',
            path: 'things?fields=name',
            body: items,
            headers: place === 0 ? headers : {},
          }),
        ),
      );
      for (const [place, { status, text }] of answers.entries()) {
        // Whoever met three faults may be told so; then nothing stays.
        const left = await rows(
          `SELECT COUNT(*) FROM things WHERE name IN (${place === 0 ? `'${turn}x', '${turn}y'` : `'${turn}z'`})`,
        );
        const whole = [[place === 0 ? 2 : 1]];
        expect({ turn, place, text, left }).toEqual({ turn, place, text, left: status === 200 ? whole : [[0]] });
      }
    }
    faulty.proxy().armAt('cut', Number.POSITIVE_INFINITY);
    const counts = `SELECT (SELECT COUNT(*) FROM things) - 3 + (SELECT COUNT(*) FROM parts) - 5, (SELECT COUNT(*) FROM platform_activity),
      (SELECT COUNT(*) FROM platform_revisions)`;
    const [[written, told, kept] = []] = (await rows(counts)) as (readonly number[])[];
    expect([told, kept]).toEqual([written, written]);
  }, 600_000);

  it(`${faults} faults at random, with clients that ask again under their keys: none partial, lost or doubled`, async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
    console.log(`seed ${seed}`);
    const next = numbers(seed);
    await rows(reset);
    let met = 0;
    let sent = 0;
    /** Asks again until there is an answer that is not about the database. */
    const insist = async (name: string): Promise<void> => {
      const body = ['x', 'y'].map((part) => ({ name: `${name}${part}`, parts: [{ label: name }] }));
      const path = 'things?fields=name,parts.label';
      let answer: Answer;
      do answer = await send({ name, method: 'POST', path, body, headers: { 'idempotency-key': name } });
      while (answer.status === 503);
      expect([name, answer.status, answer.json]).toEqual([name, 200, { data: body }]);
    };
    while (met < faults) {
      const fault = kinds[Math.floor(next() * kinds.length)] ?? 'cut';
      faulty.proxy().armAt(fault, 1 + Math.floor(next() * 20));
      await Promise.all(Array.from({ length: 4 }, () => insist(`n${sent++}-`)));
      met += faulty.proxy().done();
    }
    faulty.proxy().armAt('cut', Number.POSITIVE_INFINITY);
    const counts = `SELECT (SELECT COUNT(*) FROM things), (SELECT COUNT(*) FROM parts), (SELECT COUNT(*) FROM platform_activity),
      (SELECT COUNT(*) FROM platform_revisions)`;
    expect(await rows(counts)).toEqual([[3 + 2 * sent, 5 + 2 * sent, 4 * sent, 4 * sent]]);
    console.log(`${met} faults, ${sent} requests: 0 partial, 0 lost, 0 doubled`);
  }, 600_000);
});
