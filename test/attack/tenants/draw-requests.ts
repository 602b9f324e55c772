/** Requests of a user of one company, which reach for rows of another. */

/** One request, and whether it changes something. */
export interface TenantRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly writes: boolean;
}

type Random = () => number;

interface Shape {
  readonly fields: readonly string[];
  readonly numbers: readonly string[];
  readonly one: Readonly<Record<string, Name>>;
  readonly many: Readonly<Record<string, Name>>;
  /** Fields of payloads. */
  readonly texts: readonly string[];
  /** Fields of payloads that are a part of a key of several columns. */
  readonly links?: readonly string[];
}

type Name =
  | 'customers'
  | 'projects'
  | 'tasks'
  | 'labels'
  | 'project_labels'
  | 'task_labels'
  | 'countries'
  | 'open_tasks';

const shapes: Readonly<Record<Name, Shape>> = {
  customers: {
    fields: ['id', 'tenant_id', 'name', 'email'],
    numbers: ['id', 'tenant_id'],
    one: { country: 'countries' },
    many: { projects: 'projects' },
    texts: ['name', 'email'],
  },
  projects: {
    fields: ['id', 'tenant_id', 'name', 'budget', 'details'],
    numbers: ['id', 'budget'],
    one: { customer: 'customers', parent: 'projects' },
    many: { projects: 'projects', tasks: 'tasks', labels: 'labels', project_labels: 'project_labels' },
    texts: ['name'],
  },
  tasks: {
    fields: ['id', 'title', 'hours', 'done'],
    numbers: ['id', 'hours'],
    one: { project: 'projects' },
    many: { labels: 'labels', task_labels: 'task_labels' },
    texts: ['title'],
  },
  labels: {
    fields: ['id', 'name', 'tenant_id'],
    numbers: ['id'],
    one: {},
    many: { projects: 'projects', project_labels: 'project_labels', tasks: 'tasks', task_labels: 'task_labels' },
    texts: ['name'],
  },
  project_labels: {
    fields: ['tenant_id'],
    numbers: ['tenant_id'],
    one: { project: 'projects', label: 'labels' },
    many: {},
    texts: [],
  },
  task_labels: {
    fields: ['tenant_id', 'task', 'label'],
    numbers: ['task', 'label'],
    one: { tasks: 'tasks', labels: 'labels' },
    many: {},
    texts: [],
    links: ['task', 'label'],
  },
  countries: { fields: ['id', 'name'], numbers: [], one: {}, many: { customers: 'customers' }, texts: [] },
  open_tasks: { fields: ['id', 'title', 'hours'], numbers: ['id', 'hours'], one: {}, many: {}, texts: [] },
};

const names = Object.keys(shapes) as readonly Name[];
const keys = [11, 12, 13, 21, 22, 101, 102, 103, 1001, 1003, 721, 723, 7201, 7203, 7221, 72_001, 5555];
const words = ['amber', 'birch', 'harbour', 'a', '%', 'one', '72'];

const own = [
  '/users?fields=id,email,first_name,tenant_id',
  '/activity?fields=id,user,collection,item,user.email',
  '/revisions?fields=id,collection,item,data,delta',
  '/revisions?fields=item,data&export=csv&limit=-1',
  '/users?fields=email,tenant_id&export=json',
  '/comments?fields=id,comment,user_created.email,item',
  '/files?fields=id,title,uploaded_by',
  '/folders',
  '/presets',
  '/users/me?fields=id,email',
  '/users/00000000-0000-4000-8000-000000000002',
  '/files/00000000-0000-4000-8000-00000000f002',
  '/revisions/9001',
  '/activity/9001',
  '/items/preferences?fields=motto',
];

/** Draws one request. */
export function drawRequest(random: Random): TenantRequest {
  const share = random();
  if (share < 0.48) return drawList(random);
  if (share < 0.62) return drawGraphql(random);
  if (share < 0.64) return drawMutation(random);
  if (share < 0.74) return drawAggregate(random);
  if (share < 0.75) return drawStoredExport(random);
  if (share < 0.82) return read(`/items/${pick(random, names)}/${pick(random, keys)}`);
  if (share < 0.86) return read(pick(random, own));
  if (share < 0.87) return drawOwnGraphql(random);
  if (share < 0.88) {
    const revision = pick(random, [9001, 1 + Math.floor(random() * 40)]);
    return { method: 'POST', path: `/utils/revert/${revision}`, writes: true };
  }
  return drawWrite(random);
}

function read(path: string): TenantRequest {
  return { method: 'GET', path, writes: false };
}

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

function some<T>(random: Random, items: readonly T[], share: number): readonly T[] {
  return items.filter(() => random() < share);
}

function query(parts: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(parts).filter(([, value]) => value !== undefined);
  return entries
    .map(([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join('&');
}

function drawList(random: Random): TenantRequest {
  const name = pick(random, names);
  const parts = {
    fields: random() < 0.2 ? '*.*.*' : drawPaths(random, name, 3).join(','),
    filter: random() < 0.6 ? drawFilter(random, name, 3) : undefined,
    sort: random() < 0.4 ? drawSort(random, name) : undefined,
    search: random() < 0.1 ? pick(random, words) : undefined,
    limit: random() < 0.5 ? String(Math.floor(random() * 4)) : undefined,
    meta: random() < 0.2 ? '*' : undefined,
    export: random() < 0.1 ? pick(random, ['csv', 'json', 'xml', 'yaml']) : undefined,
  };
  const cursor = random() < 0.1 && parts.limit !== undefined && parts.meta === undefined ? { cursor: '' } : {};
  return read(`/items/${name}?${query({ ...parts, ...cursor })}`);
}

function drawPaths(random: Random, name: Name, depth: number): readonly string[] {
  const { fields, one, many } = shapes[name];
  const below = depth === 0 ? [] : some(random, Object.entries({ ...one, ...many }), 0.4);
  const nested = below.flatMap(([relation, target]) =>
    drawPaths(random, target, depth - 1).map((path) => `${relation}.${path}`),
  );
  return [...(nested.length === 0 ? [pick(random, fields)] : []), ...some(random, fields, 0.3), ...nested];
}

function drawSort(random: Random, name: Name): string {
  const { fields, one } = shapes[name];
  const plain = fields.filter((field) => field !== 'details');
  const through = Object.entries(one).flatMap(([relation, target]) =>
    shapes[target].numbers.length > 0 ? [`${relation}.${shapes[target].numbers[0]}`] : [],
  );
  return `${random() < 0.5 ? '-' : ''}${pick(random, [...plain, ...through])}`;
}

function drawFilter(random: Random, name: Name, depth: number): Readonly<Record<string, unknown>> {
  const { numbers, texts, one, many } = shapes[name];
  const share = depth === 0 ? 0 : random();
  if (share > 0.85)
    return {
      [pick(random, ['_and', '_or'])]: [drawFilter(random, name, depth - 1), drawFilter(random, name, depth - 1)],
    };
  const relations = Object.entries(share > 0.6 ? one : many);
  if (share > 0.25 && relations.length > 0) {
    const [relation, target] = pick(random, relations);
    const inner = drawFilter(random, target, depth - 1);
    return { [relation]: share > 0.6 ? inner : { [pick(random, ['_some', '_none'])]: inner } };
  }
  if (texts.length > 0 && random() < 0.4)
    return {
      [pick(random, texts)]: { [pick(random, ['_contains', '_ncontains', '_starts_with'])]: pick(random, words) },
    };
  const [number = 'id'] = some(random, numbers, 0.6);
  if (!numbers.includes(number)) return { name: { _neq: 'x' } };
  return {
    [number]: pick(random, [
      { _eq: pick(random, keys) },
      { _gt: pick(random, keys) },
      { _nin: [pick(random, keys)] },
      { _null: random() < 0.5 },
    ]),
  };
}

function drawAggregate(random: Random): TenantRequest {
  const name = pick(random, names);
  const { numbers, fields } = shapes[name];
  const number = numbers.length === 0 ? undefined : pick(random, numbers);
  const parts = {
    'aggregate[count]': '*',
    ...(number !== undefined && {
      [`aggregate[${pick(random, ['sum', 'min', 'max', 'avg', 'countDistinct'])}]`]: number,
    }),
    groupBy:
      random() < 0.4
        ? pick(
            random,
            fields.filter((field) => field !== 'details'),
          )
        : undefined,
    filter: random() < 0.4 ? drawFilter(random, name, 2) : undefined,
  };
  return read(`/items/${name}?${query(parts)}`);
}

function drawGraphql(random: Random): TenantRequest {
  const name = pick(random, names);
  const filter = random() < 0.6 ? `filter: ${literal(drawFilter(random, name, 2))}, ` : '';
  const parts = [`items: ${name}(${filter}limit: ${1 + Math.floor(random() * 5)}) ${drawSelection(random, name, 2)}`];
  const [number] = shapes[name].numbers;
  if (number !== undefined && random() < 0.3) parts.push(`${name}_aggregated { max { ${number} } countAll }`);
  if (random() < 0.3) parts.push(`${name}_by_id(id: "${pick(random, keys)}") { ${shapes[name].fields[0]} }`);
  return { method: 'POST', path: '/graphql', body: { query: `{ ${parts.join(' ')} }` }, writes: false };
}

/** Lists of the platform, which hold what was written, and by whom. */
function drawOwnGraphql(random: Random): TenantRequest {
  const list = pick(random, [
    'revisions(sort: ["id"], limit: -1) { id collection item data delta }',
    // Files have random keys, which may contain it.
    'revisions(filter: {item: {_contains: "72"}, collection: {_neq: "platform_files"}}) { id item data activity { user { email } } }',
    'revisions_by_id(id: "9001") { data }',
    'activity(sort: ["-id"], limit: 20) { action item user { email first_name } revisions { data } }',
    'users(sort: ["email"]) { email first_name }',
  ]);
  return { method: 'POST', path: '/graphql/system', body: { query: `{ ${list} }` }, writes: false };
}

function drawMutation(random: Random): TenantRequest {
  const name = pick(random, ['customers', 'projects', 'tasks', 'labels'] as const);
  const data = literal(drawPayload(random, name, 1));
  const field = shapes[name].texts[0];
  const mutation = pick(random, [
    `create_${name}_item(data: ${data}) { ${field} }`,
    `update_${name}_item(id: "${pick(random, keys)}", data: ${data}) ${drawSelection(random, name, 1)}`,
    `update_${name}_items(ids: ["${pick(random, keys)}", "${pick(random, keys)}"], data: ${data}) { ${field} }`,
    `delete_${name}_item(id: "${pick(random, [721, 7201, 7221, 72_001, 5555])}") { id }`,
  ]);
  return { method: 'POST', path: '/graphql', body: { query: `mutation { ${mutation} }` }, writes: true };
}

/** A list that is kept as a file. */
function drawStoredExport(random: Random): TenantRequest {
  const name = pick(random, names);
  const filter = random() < 0.5 ? { filter: drawFilter(random, name, 2) } : {};
  const query = { fields: drawPaths(random, name, 2), limit: -1, ...filter };
  const format = pick(random, ['csv', 'json', 'xml', 'yaml']);
  const body = { query, format, file: { title: 'exported' } };
  return { method: 'POST', path: `/utils/export/${name}`, body, writes: true };
}

function drawSelection(random: Random, name: Name, depth: number): string {
  const { fields, one, many } = shapes[name];
  const below = depth === 0 ? [] : some(random, Object.entries({ ...one, ...many }), 0.4);
  const nested = below.map(([relation, target]) => `${relation} ${drawSelection(random, target, depth - 1)}`);
  return `{ ${[pick(random, fields), ...nested].join(' ')} }`;
}

/** A value as GraphQL writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, item]) => `${name}: ${literal(item)}`)
    .join(', ')}}`;
}

function drawWrite(random: Random): TenantRequest {
  const name = pick(random, ['customers', 'projects', 'tasks', 'labels', 'project_labels', 'task_labels'] as const);
  const share = random();
  const path = `/items/${name}`;
  const payload = drawPayload(random, name, 1);
  if (share < 0.25) return { method: 'POST', path, body: payload, writes: true };
  if (share < 0.6) return { method: 'PATCH', path: `${path}/${pick(random, keys)}`, body: payload, writes: true };
  if (share < 0.8) {
    const filter = drawFilter(random, name, 1);
    return {
      method: 'PATCH',
      path,
      body: { query: { filter, limit: 2, sort: ['tenant_id'] }, data: payload },
      writes: true,
    };
  }
  if (share < 0.9)
    return {
      method: 'PATCH',
      path,
      body: { keys: [pick(random, keys), pick(random, keys)], data: payload },
      writes: true,
    };
  // Rows of the own company would soon be gone.
  return { method: 'DELETE', path: `${path}/${pick(random, [721, 7201, 7203, 7221, 72_001, 5555])}`, writes: true };
}

function drawPayload(random: Random, name: Name, depth: number): Readonly<Record<string, unknown>> {
  const { texts, one, many, links: parts = [] } = shapes[name];
  const cells = some(random, texts, 0.7).map((field) => [field, `${pick(random, words)} ${Math.floor(random() * 99)}`]);
  const links = some(random, [...Object.keys(one), ...parts], 0.4)
    .filter((relation) => relation !== 'country')
    .map((relation) => [relation, pick(random, keys)]);
  const lists =
    depth === 0
      ? []
      : some(random, Object.entries(many), 0.2).map(([relation, target]) => [
          relation,
          [pick(random, keys), drawPayload(random, target, 0)],
        ]);
  const named = random() < 0.05 ? [['tenant_id', pick(random, [1, 2])]] : [];
  return Object.fromEntries([...cells, ...links, ...lists, ...named]);
}
