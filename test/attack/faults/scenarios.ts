/** Requests that are asked while connections break. */

/** A request that writes; more of them make more proofs. */
export interface Scenario {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Those of tables `things`, `parts`, `tags` and `parts_tags`, of which the tests make the rows that are named here. */
export const scenarios: readonly Scenario[] = [
  { name: 'create one', method: 'POST', path: 'things', body: { name: 'new' } },
  { name: 'create many', method: 'POST', path: 'things', body: ['a', 'b', 'c'].map((name) => ({ name })) },
  {
    name: 'create under a key',
    method: 'POST',
    path: 'things',
    body: { name: 'new' },
    headers: { 'idempotency-key': 'k' },
  },
  {
    name: 'create a tree',
    method: 'POST',
    path: 'things',
    body: { name: 'new', parts: ['a', 'b', 'c'].map((label) => ({ label })) },
  },
  {
    name: 'upsert',
    method: 'POST',
    path: 'things?on_conflict=name',
    body: [{ name: 'one', value: 5, parts: [{ label: 'a' }] }, { name: 'new' }],
  },
  {
    name: 'create a deep tree',
    method: 'POST',
    path: 'parts',
    body: {
      label: 'root',
      thing_id: { name: 'new', parts: [{ label: 'sibling', tags: [1, { name: 'new' }] }, 3] },
      tags: [2, { name: 'other' }],
    },
  },
  {
    name: 'update a tree',
    method: 'PATCH',
    path: 'things/1',
    body: {
      value: 10,
      parts: [
        { id: 1, label: 'changed', tags: { create: [{ name: 'new' }], delete: [1] } },
        { id: 3, tags: [2] },
        { label: 'new' },
      ],
    },
  },
  {
    name: 'create a tree under a key',
    method: 'POST',
    path: 'things',
    body: [{ name: 'new', parts: { create: [{ label: 'a', tags: [{ name: 'x' }] }], update: [{ id: 2 }] } }],
    headers: { 'idempotency-key': 'k' },
  },
  { name: 'update one', method: 'PATCH', path: 'things/1', body: { value: 10 } },
  { name: 'update guarded', method: 'PATCH', path: 'things/1', body: { value: 10 }, headers: { 'if-match': '*' } },
  { name: 'update many', method: 'PATCH', path: 'things', body: { keys: [1, 2, 3], data: { value: 10 } } },
  {
    name: 'update by query',
    method: 'PATCH',
    path: 'things',
    body: { query: { filter: { value: { _gt: 1 } } }, data: { value: 10 } },
  },
  { name: 'delete one', method: 'DELETE', path: 'things/3' },
  { name: 'delete many', method: 'DELETE', path: 'parts', body: [4, 5] },
];
