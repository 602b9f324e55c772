/** Functions and computed fields of the embedded database, whose one session both reads and writes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbedded } from '../support/embedded.ts';
import { createProject, type Platform, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

const sql = `
CREATE TABLE shops (id integer PRIMARY KEY, name text NOT NULL, stars integer NOT NULL);
INSERT INTO shops VALUES (1, 'Harbour', 3), (2, 'Market', 5);
CREATE FUNCTION label(s shops) RETURNS text LANGUAGE sql STABLE AS $$ SELECT s.name || ' ' || s.stars $$;
CREATE FUNCTION close_shop(shop integer) RETURNS SETOF shops LANGUAGE sql VOLATILE AS $$
  DELETE FROM public.shops WHERE id = shop RETURNING * $$;
CREATE FUNCTION sly_label(s shops) RETURNS text LANGUAGE sql STABLE AS $$ SELECT name FROM public.close_shop(s.id) $$;
CREATE FUNCTION sly(shop integer) RETURNS text LANGUAGE sql STABLE AS $$ SELECT name FROM public.close_shop(shop) $$;
CREATE FUNCTION sly_rows(shop integer) RETURNS SETOF shops LANGUAGE sql STABLE AS $$ SELECT * FROM public.close_shop(shop) $$;
`;

const config = `export default { functions: { label: { field: 'shops.label' }, sly_label: { field: 'shops.sly' },
  sly: {}, sly_rows: {}, close_shop: {} } };\n`;

let project: Awaited<ReturnType<typeof createProject>>;
let embedded: Platform;
beforeAll(async () => {
  project = await createProject();
  const dataDir = join(project.folder, '.platform', 'database');
  const database = await createEmbedded(dataDir);
  await database.exec(sql);
  await database.close();
  await writeFile(join(project.folder, 'platform.config.ts'), config);
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions:\n  public: { shops: { read: true } }\n');
  embedded = await startPlatform(project.folder, '');
});
afterAll(async () => {
  await embedded?.stop();
  await project?.remove();
});

describe('PGlite', () => {
  it('computes fields', async () => {
    const { json } = await embedded.ask('/items/shops?fields=label&filter[label][_ends_with]=5');
    expect(json.data).toEqual([{ label: 'Market 5' }]);
  });

  it.each([
    '/functions/sly?shop=1',
    '/functions/sly_rows?shop=1',
    '/functions/sly_rows?shop=1&limit=-1&meta=*',
    '/items/shops?fields=sly',
    '/items/shops/1?fields=sly',
    '/items/shops?fields=sly&limit=-1',
    '/items/shops?aggregate[max]=sly',
  ])('lets no function write that says that it only reads: %s', async (path) => {
    const refused = await embedded.admin(path);
    expect([refused.text, failure(refused)]).toEqual([
      expect.stringContaining('read only'),
      path.startsWith('/items') ? '400 INVALID_QUERY' : '422 UNPROCESSABLE_ENTITY',
    ]);
    expect((await embedded.ask('/items/shops?fields=id')).json.data).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('writes by other functions afterwards', async () => {
    const closed = await embedded.admin('/functions/close_shop', { method: 'POST', body: { shop: 1 } });
    // The items that it gives are gone, so there is nothing to read.
    expect(closed.status).toBe(204);
    expect((await embedded.ask('/items/shops?fields=id')).json.data).toEqual([{ id: 2 }]);
  });
});
