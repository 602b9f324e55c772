/** Random trees: what the database holds afterwards is what a model says, which knows nothing of how trees are written. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE owners (id integer PRIMARY KEY, name text);
      CREATE TABLE nodes (id integer PRIMARY KEY, label text, owner_id integer REFERENCES owners, parent_id integer REFERENCES nodes);
      CREATE TABLE tags (id integer PRIMARY KEY, name text);
      CREATE TABLE nodes_tags (node_id integer REFERENCES nodes, tag_id integer REFERENCES tags, PRIMARY KEY (node_id, tag_id));`,
    config: `{ relations: { 'nodes.nodes': { name: 'children' } } }`,
    permissions: 'permissions: {}',
  });
});
afterAll(() => project?.close());

interface Node {
  label: string | null;
  owner: number | null;
  parent: number | null;
  tags: Set<number>;
}

interface Model {
  readonly owners: Map<number, string | null>;
  readonly nodes: Map<number, Node>;
  readonly tags: Map<number, string | null>;
}

type Json = string | number | null | Json[] | { [name: string]: Json };

/** Numbers from a tape that fast-check makes, so that a failure is found again by its seed. */
function createTape(numbers: readonly number[]) {
  let at = 0;
  const below = (most: number): number => (numbers[at++ % numbers.length] ?? 0) % most;
  return { below, chance: (percent: number): boolean => below(100) < percent };
}

/** Draws a payload, and tells the model what it means; a key of a node comes once, so that nothing contradicts itself. */
function drawTree(tape: ReturnType<typeof createTape>, model: Model, round: number) {
  const free = Array.from({ length: 12 }, (_, id) => id + 1);
  const fresh = new Map<'owners' | 'tags', Set<number>>([
    ['owners', new Set()],
    ['tags', new Set()],
  ]);
  const old = new Map([...model.nodes].map(([id, node]) => [id, node.parent]));
  const placed = new Map<number, number | null>();
  const left = new Set<number>();
  const takeNode = (): number | undefined => free.splice(tape.below(free.length), 1)[0];

  /** A key, or an object by which an item is made at most once. */
  function drawOther(kind: 'owners' | 'tags'): { id: number; made: boolean; value: Json } | undefined {
    const id = tape.below(6) + 1;
    const known = model[kind].has(id);
    if (fresh.get(kind)?.has(id)) return undefined;
    if (known && tape.chance(60)) return { id, made: false, value: id };
    if (!known) fresh.get(kind)?.add(id);
    model[kind].set(id, `r${round}`);
    return { id, made: !known, value: { id, name: `r${round}` } };
  }

  function drawTags(node: Node, isNew: boolean): Json {
    const drawn = Array.from({ length: tape.below(4) }, () => drawOther('tags')).filter((one) => one !== undefined);
    const ids = drawn.map(({ id }) => id);
    const values = drawn.map(({ value }) => value);
    if (isNew || tape.chance(60)) {
      node.tags = new Set(ids);
      return values;
    }
    const gone = [...node.tags].filter((id) => !ids.includes(id) && tape.chance(40));
    node.tags = new Set([...node.tags, ...ids].filter((id) => !gone.includes(id)));
    const create = drawn.flatMap(({ made, value }) => (made ? [value] : []));
    const update = drawn.flatMap(({ id, made, value }) => (made ? [] : [typeof value === 'number' ? { id } : value]));
    return { create, update, delete: gone };
  }

  function drawChildren(id: number, isNew: boolean, depth: number): Json {
    const elements: Json[] = [];
    const kept: number[] = [];
    for (let count = tape.below(3); count > 0 && free.length > 0; count--) {
      const child = takeNode();
      if (child === undefined) break;
      kept.push(child);
      placed.set(child, id);
      const link = old.has(child) && tape.chance(40);
      elements.push(link ? child : drawNode(child, depth + 1));
    }
    const before = [...old].flatMap(([child, parent]) => (parent === id && !kept.includes(child) ? [child] : []));
    if (isNew || tape.chance(60)) {
      for (const child of before) left.add(child);
      return elements;
    }
    const gone = before.filter((child) => free.includes(child) && tape.chance(50));
    for (const child of gone) {
      free.splice(free.indexOf(child), 1);
      left.add(child);
    }
    const objects = elements.map((element) => (typeof element === 'number' ? { id: element } : element));
    const made = objects.filter((_, place) => !old.has(kept[place] ?? 0));
    return { create: made, update: objects.filter((one) => !made.includes(one)), delete: gone };
  }

  function drawNode(id: number, depth: number): { [name: string]: Json } {
    const isNew = !old.has(id);
    const node = model.nodes.get(id) ?? { label: null, owner: null, parent: null, tags: new Set<number>() };
    model.nodes.set(id, node);
    const payload: { [name: string]: Json } = { id };
    if (tape.chance(70)) {
      node.label = `${id} in ${round}`;
      payload.label = node.label;
    }
    const owner = tape.chance(50) ? drawOther('owners') : undefined;
    if (owner !== undefined || tape.chance(20)) {
      node.owner = owner?.id ?? null;
      payload.owner_id = owner?.value ?? null;
    }
    if (depth < 4 && tape.chance(60)) payload.children = drawChildren(id, isNew, depth);
    if (tape.chance(50)) payload.tags = drawTags(node, isNew);
    return payload;
  }

  const root = takeNode() ?? 1;
  const isNew = !old.has(root);
  const payload = drawNode(root, 0);
  for (const child of left) if (!placed.has(child)) Object.assign(model.nodes.get(child) ?? {}, { parent: null });
  for (const [child, parent] of placed) Object.assign(model.nodes.get(child) ?? {}, { parent });
  const { id: _, ...changes } = payload;
  return isNew
    ? { method: 'POST', path: 'nodes', body: payload }
    : { method: 'PATCH', path: `nodes/${root}`, body: changes };
}

function stateOf({ owners, nodes, tags }: Model): unknown {
  const byId = <T>(map: ReadonlyMap<number, T>) => [...map].sort(([a], [b]) => a - b);
  return {
    owners: byId(owners),
    nodes: byId(nodes).map(([id, { label, owner, parent, tags: own }]) => [id, label, owner, parent, [...own].sort()]),
    tags: byId(tags),
  };
}

async function stored(): Promise<unknown> {
  return withClient(project.database.url, async (client) => {
    const ask = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows;
    return {
      owners: await ask('SELECT * FROM owners ORDER BY 1'),
      nodes: await ask(`SELECT id, label, owner_id, parent_id,
        ARRAY(SELECT tag_id FROM nodes_tags WHERE node_id = id ORDER BY 1) FROM nodes ORDER BY 1`),
      tags: await ask('SELECT * FROM tags ORDER BY 1'),
    };
  });
}

it('random trees leave what the model says', async () => {
  const tapes = fc.array(fc.nat(9_999), { minLength: 120, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(tapes, async (numbers) => {
      await withClient(project.database.url, (client) => client.query('TRUNCATE owners, nodes, tags, nodes_tags'));
      const model: Model = { owners: new Map(), nodes: new Map(), tags: new Map() };
      const tape = createTape(numbers);
      for (let round = 0; round < 5; round++) {
        const { method, path, body } = drawTree(tape, model, round);
        const answer = await project.admin(`/items/${path}?fields=id`, { method, body });
        expect([answer.status, JSON.stringify(body)]).toEqual([200, JSON.stringify(body)]);
        expect(await stored(), JSON.stringify(body)).toEqual(stateOf(model));
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 120_000);
