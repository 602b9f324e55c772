/**
 * What is asked of each of the thirteen system resources, REST and GraphQL, and what is said of the answers: all of it, but
 * for identifiers and instants.
 */
import { expect } from 'vitest';
import { file, form } from './files.ts';
import type { Answer, Platform } from './platform.ts';

type Body = Readonly<Record<string, unknown>>;

/** A resource whose rows are made, read, changed and deleted: two bodies, and what is changed of them. */
interface Rows {
  readonly name: string;
  readonly bodies: readonly [Body, Body];
  readonly change: Body;
  /** A field to order by that does not depend on identifiers. */
  readonly sort: string;
  /** GraphQL has other operations that write it. */
  readonly ownMutations?: true;
}

export const rows: readonly Rows[] = [
  {
    name: 'comments',
    bodies: [
      { collection: 'notes', item: '1', comment: 'a' },
      { collection: 'notes', item: '1', comment: 'b' },
    ],
    change: { comment: 'c' },
    sort: 'comment',
    ownMutations: true,
  },
  { name: 'folders', bodies: [{ name: 'a' }, { name: 'b' }], change: { name: 'c' }, sort: 'name' },
  {
    name: 'presets',
    bodies: [
      { bookmark: 'a', filter: { text: { _eq: 'x' } } },
      { bookmark: 'b', collection: 'notes' },
    ],
    change: { layout: 'cards', layout_query: { page: 2 } },
    sort: 'bookmark',
  },
  {
    name: 'permissions',
    bodies: [
      { role: null, collection: 'notes', action: 'read', fields: ['*'] },
      { role: null, collection: 'notes', action: 'create', fields: ['text'], validation: { text: { _nnull: true } } },
    ],
    change: { fields: ['id', 'text'] },
    sort: 'action',
  },
  {
    name: 'roles',
    bodies: [
      { name: 'a', ip_access: ['10.0.0.0/8'] },
      { name: 'b', admin_access: true },
    ],
    change: { description: 'c' },
    sort: 'name',
  },
  {
    name: 'users',
    bodies: [
      { email: 'a@example.com', password: 'a long password', first_name: 'a' },
      { email: 'b@example.com', password: 'a long password', tags: ['x', 'y'] },
    ],
    change: { title: 'c' },
    sort: 'email',
  },
];

/** A request and what it is called. */
export type Asked = readonly [name: string, answer: Answer];

/** A value as GraphQL writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${literal(one)}`)
    .join(', ')} }`;
}

export const rest = async (platform: Platform, method: string, path: string, body?: unknown): Promise<Asked> => [
  `${method} ${path.replace(/[\da-f]{8}-[\da-f-]{27}/g, ':id')}`,
  await platform.admin(path, { method, ...(body !== undefined && { body }) }),
];

export const graphql = async (platform: Platform, query: string, path = '/graphql/system'): Promise<Asked> => [
  query.replace(/[\da-f]{8}-[\da-f-]{27}/g, ':id'),
  await platform.admin(path, { method: 'POST', body: { query } }),
];

/** Makes, reads, changes and deletes rows of a resource. */
export async function askRows(
  platform: Platform,
  { name, bodies, change, sort, ownMutations }: Rows,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const one = await rest(platform, method, path, body);
    asked.push(one);
    return one[1];
  };
  const [first, second] = bodies;
  const fields = Object.keys({ ...first, ...second, ...change }).join(',');
  const one = (await ask('POST', `/${name}`, first)).json?.data?.id;
  const [two] = ((await ask('POST', `/${name}`, [second])).json?.data ?? []).map(({ id }: { id: unknown }) => id);
  expect([name, one, two]).toEqual([name, expect.anything(), expect.anything()]);
  await ask('GET', `/${name}?fields=${fields}&sort=${sort}&meta=*`);
  await ask('SEARCH', `/${name}`, { query: { fields: [sort], sort: [`-${sort}`], limit: 1 } });
  await ask('GET', `/${name}?aggregate[count]=*`);
  await ask('GET', `/${name}/${one}?fields=${fields}`);
  await ask('PATCH', `/${name}/${one}?fields=${fields}`, change);
  await ask('PATCH', `/${name}?fields=${fields}`, { keys: [one, two], data: change });
  await ask('PATCH', `/${name}/${one}`, { nothing: 1 });
  await ask('DELETE', `/${name}/${one}`);
  await ask('DELETE', `/${name}`, [two]);
  await ask('GET', `/${name}/${one}`);
  const say = async (query: string) => {
    const said = await graphql(platform, query);
    asked.push(said);
    return said[1];
  };
  await say(`{ ${name}(sort: ["${sort}"]) { ${sort} } }`);
  await say(`{ ${name}_aggregated { countAll } }`);
  if (ownMutations) return asked;
  const made = await say(`mutation { create_${name}_item(data: ${literal(first)}) { id ${sort} } }`);
  const key = literal(String(made.json.data?.[`create_${name}_item`]?.id));
  const others = await say(`mutation { create_${name}_items(data: [${literal(second)}]) { id ${sort} } }`);
  const other = literal(String(others.json.data?.[`create_${name}_items`]?.[0]?.id));
  await say(`{ ${name}_by_id(id: ${key}) { ${sort} } }`);
  await say(`mutation { update_${name}_item(id: ${key}, data: ${literal(change)}) { ${sort} } }`);
  await say(`mutation { update_${name}_items(ids: [${key}, ${other}], data: ${literal(change)}) { id } }`);
  await say(`mutation { delete_${name}_item(id: ${key}) { id } }`);
  await say(`mutation { delete_${name}_items(ids: [${other}]) { ids } }`);
  return asked;
}

const choices = { options: { choices: [{ text: 'A', value: 'a' }] } };

/** What is asked of each of the others. */
export const others: Readonly<Record<string, (platform: Platform) => Promise<readonly Asked[]>>> = {
  files: async (platform) => {
    const sent = await rest(
      platform,
      'POST',
      '/files?fields=title,type,filesize,filename_download',
      form(file('text', 'a.txt')),
    );
    const [id] = (await platform.admin('/files?sort=-uploaded_on&limit=1')).json.data.map((one: Body) => one.id);
    return [
      sent,
      await rest(platform, 'GET', `/files/${id}?fields=title,filesize`),
      await rest(platform, 'PATCH', `/files/${id}?fields=title,tags`, { title: 'b', tags: ['x'] }),
      await rest(platform, 'GET', '/files?fields=title,tags&filter[type][_eq]=text/plain'),
      await graphql(platform, '{ files { title filesize } files_aggregated { countAll } }'),
      await graphql(
        platform,
        `mutation { update_files_item(id: "${id}", data: { description: "c" }) { description } }`,
      ),
      await rest(platform, 'GET', `/assets/${id}`),
      await rest(platform, 'DELETE', `/files/${id}`),
      await rest(platform, 'GET', `/assets/${id}`),
    ];
  },
  settings: async (platform) => [
    await rest(platform, 'GET', '/settings'),
    await rest(platform, 'PATCH', '/settings', { project_name: 'Ours', module_bar: [{ id: 'a' }] }),
    await rest(platform, 'SEARCH', '/settings', { query: { fields: ['project_name', 'module_bar'] } }),
    await graphql(
      platform,
      'mutation { update_settings(data: { project_color: "#000" }) { project_name project_color } }',
    ),
    await graphql(platform, '{ settings { project_name module_bar } }'),
  ],
  activity: async (platform) => {
    const commented = await platform.admin('/activity/comment', {
      method: 'POST',
      body: { collection: 'notes', item: '1', comment: 'told' },
    });
    const { id } = commented.json.data;
    return [
      await rest(platform, 'PATCH', `/activity/comment/${id}?fields=comment`, { comment: 'better' }),
      await rest(platform, 'GET', '/activity?fields=action,collection&filter[collection][_eq]=notes&sort=id'),
      await rest(platform, 'DELETE', `/activity/comment/${id}`),
      await rest(platform, 'POST', '/activity', { action: 'x' }),
      await graphql(
        platform,
        '{ activity(filter: { collection: { _eq: "notes" } }, sort: ["id"]) { action collection } }',
      ),
      await graphql(platform, 'mutation { create_comment(collection: "notes", item: "1", comment: "d") { comment } }'),
    ];
  },
  revisions: async (platform) => {
    await platform.admin('/items/notes/1', { method: 'PATCH', body: { text: 'changed' } });
    const [last] = (await platform.admin('/revisions?sort=-id&limit=1&filter[collection][_eq]=notes')).json.data;
    return [
      await rest(
        platform,
        'GET',
        '/revisions?fields=collection,item,data,delta&sort=-id&limit=1&filter[collection][_eq]=notes',
      ),
      await rest(platform, 'DELETE', `/revisions/${last.id}`),
      await graphql(
        platform,
        '{ revisions(filter: { collection: { _eq: "notes" } }, sort: ["-id"], limit: 1) { item delta } }',
      ),
      await rest(platform, 'POST', `/utils/revert/${last.id}`),
    ];
  },
  collections: async (platform) => [
    await rest(platform, 'GET', '/collections/notes'),
    await rest(platform, 'POST', '/collections', { collection: 'made', schema: {}, meta: { note: 'Made.' } }),
    await rest(platform, 'PATCH', '/collections/made', { meta: { hidden: true } }),
    await rest(platform, 'PATCH', '/collections', [{ collection: 'made', meta: { icon: 'box' } }]),
    await graphql(platform, '{ collections_by_name(name: "made") { collection meta } }'),
    await rest(platform, 'POST', '/collections', { collection: 'notes', schema: {} }),
  ],
  fields: async (platform) => [
    await rest(platform, 'POST', '/fields/made', [
      { field: 'state', type: 'enum', meta: choices },
      { field: 'note', type: 'integer' },
    ]).then(statusOnly),
    await rest(platform, 'PATCH', '/fields/made/state', { meta: { note: 'c' } }).then(statusOnly),
    await graphql(platform, '{ fields_in_collection(collection: "made") { field type } }'),
    await graphql(platform, 'mutation { delete_fields_item(collection: "made", field: "state") { field } }'),
    await rest(platform, 'DELETE', '/fields/made/nothing'),
  ],
  relations: async (platform) => [
    await rest(platform, 'POST', '/relations', {
      collection: 'made',
      field: 'note',
      related_collection: 'notes',
      meta: { one_field: 'making' },
    }),
    await rest(platform, 'GET', '/relations/made/note'),
    await rest(platform, 'PATCH', '/relations/made/note', { meta: { one_field: 'makings' } }),
    await graphql(platform, '{ relations_in_collection(collection: "made") { field related_collection meta } }'),
    await rest(platform, 'DELETE', '/relations/made/note'),
    await rest(platform, 'DELETE', '/collections/made'),
    await rest(platform, 'GET', '/collections/made'),
  ],
};

/** Of an answer whose text is another one on each server. */
export function statusOnly([name, answer]: Asked): Asked {
  return [name, { ...answer, text: '' }];
}

/** A request, the status of its answer, and what it says, without what is another one each time. */
export type Said = readonly [name: string, status: number, text: string];

/** What is said of an answer. */
export function said([name, { status, text }]: Asked): Said {
  const seen = new Map<string, string>();
  // Servers put blanks into JSON that they store.
  const known = text
    .replaceAll(/(?<=[:,]) /g, '')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, (id) => seen.get(id) ?? nameOf(seen, id))
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"instant"')
    .replaceAll(/(\\?"(?:id|activity)\\?":)\d+/g, '$1"number"');
  return [name.replaceAll(/\/\d+\b|id: "\d+"/g, '/:number'), status, known];
}

function nameOf(seen: Map<string, string>, id: string): string {
  seen.set(id, `id ${seen.size}`);
  return `id ${seen.size - 1}`;
}
