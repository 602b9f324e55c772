/** Lists whose connection is lost amid their rows, on every server. */
import { expect } from 'vitest';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import type { Platform } from '../../support/platform.ts';

/** A text by which their statements are known on the way to the database. */
const mark = 'no-name';

const lists: readonly (readonly [path: string, body?: unknown])[] = [
  [`/items/things?limit=200&fields=name,value&sort=id&filter[name][_neq]=${mark}`],
  [`/items/things?limit=200&fields=name&sort=id&filter[name][_neq]=${mark}&meta=filter_count`],
  [`/items/things?limit=200&sort=id&fields=name&filter[name][_neq]=${mark}&export=csv`],
  ['/graphql', { query: `{ things(limit: 200, sort: ["id"], filter: { name: { _neq: "${mark}" } }) { name value } }` }],
];

/** Things enough for an answer of several pieces, by the key of the last one before them. */
export const manyThings = (after: number): string =>
  `INSERT INTO things (id, name, value) VALUES ${Array.from({ length: 300 }, (_, index) => {
    const id = after + 1 + index;
    return `(${id}, '${'listed '.repeat(4)}${id}', ${id})`;
  }).join(', ')}`;

/** Expects each list to be read once more after a loss, and the second loss to be told. */
export async function expectReadAgain({ admin }: Pick<Platform, 'admin'>, proxy: FaultProxy): Promise<void> {
  for (const [path, body] of lists) {
    const ask = () => admin(path, body === undefined ? {} : { method: 'POST', body });
    const whole = await ask();
    proxy.arm('crop', mark);
    expect(await ask()).toMatchObject({ status: 200, text: whole.text });
    expect([path, proxy.done(), whole.text.length > 4_000]).toEqual([path, 1, true]);
    proxy.arm('crop', mark, 2);
    expect((await ask()).text).toContain('SERVICE_UNAVAILABLE');
  }
}
