/** Queries drawn from what a generated client states of its collections: everything that its types allow. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A query of a collection. */
export interface DrawnQuery {
  readonly collection: string;
  readonly query: Readonly<Record<string, unknown>>;
}

interface Stated {
  readonly fields: readonly string[];
  readonly functions: readonly string[];
  readonly groups: readonly string[];
  readonly summed: readonly string[];
  /** By name, with the texts among the arguments of their types: target, and for links what they lead to. */
  readonly relations: ReadonlyMap<string, { readonly kind: string; readonly texts: readonly string[] }>;
}

/** Reads the facts of a client from its files, by collection. */
export function readFacts(folder: string): ReadonlyMap<string, Stated> {
  const files = readdirSync(join(folder, 'collections'));
  const entries = files.map((name) => {
    const text = readFileSync(join(folder, 'collections', name), 'utf8');
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
    const members = (suffix: string): readonly ts.PropertySignature[] =>
      source.statements
        .filter(ts.isInterfaceDeclaration)
        .filter((one) => one.name.text.endsWith(suffix))
        .flatMap((one) => one.members.filter(ts.isPropertySignature));
    const facts = members('Facts');
    /** A fact may be that of another one: `groups: ArticlesFacts['sort']`. */
    const listed = (fact: string): readonly string[] =>
      facts
        .filter((one) => nameOf(one) === fact)
        .flatMap(({ type }) => {
          if (type === undefined) return [];
          const [other = ''] = ts.isIndexedAccessTypeNode(type) ? textsIn(type.indexType) : [];
          return other === '' ? textsIn(type) : listed(other);
        });
    const [, collection = ''] = /queries of `(.*)` are checked/.exec(text) ?? [];
    const stated: Stated = {
      fields: members('Item').map(nameOf),
      functions: members('Functions').map(nameOf),
      groups: listed('groups'),
      summed: listed('summed'),
      relations: new Map(
        members('Relations').map((one) => [
          nameOf(one),
          { kind: one.type?.getText().split('<')[0] ?? '', texts: one.type ? textsIn(one.type) : [] },
        ]),
      ),
    };
    return [collection, stated] as const;
  });
  return new Map(entries);
}

function nameOf(member: ts.PropertySignature): string {
  return 'text' in member.name ? String(member.name.text) : '';
}

function textsIn(type: ts.TypeNode): readonly string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) texts.push(node.text);
    node.forEachChild(visit);
  };
  visit(type);
  return texts;
}

/** Draws a query. `random` gives a number below the one it is given. */
export function drawQuery(
  facts: ReadonlyMap<string, Stated>,
  collection: string,
  random: (below: number) => number,
): DrawnQuery {
  const own = facts.get(collection);
  if (own === undefined) throw new Error(`There is no "${collection}".`);
  const limits: Record<string, unknown> = { limit: 4 };
  const count = 1 + random(5);
  const drawn = Array.from({ length: count }, () => drawPath(facts, collection, 3, random));
  const relations = [...own.relations].filter(([name]) => drawn.some((path) => path.split('.')[0] === name));
  const [aliased] = relations;
  if (aliased !== undefined && random(3) === 0) {
    const [name] = aliased;
    const fields = drawn.map((path) => (path.split('.')[0] === name ? `other${path.slice(name.length)}` : path));
    return { collection, query: { ...limits, fields: [...new Set(fields)], alias: { other: name } } };
  }
  const many = relations.find(([, { kind }]) => kind === 'Many');
  if (many !== undefined && random(3) === 0) {
    const [name, { texts }] = many;
    const target = facts.get(texts[0] ?? '');
    const group = target?.groups[random(target.groups.length || 1)];
    const sum = target?.summed[0];
    const _aggregate = { count: '*', ...(sum && { sum: [sum], avg: [sum] }) };
    return {
      collection,
      query: {
        ...limits,
        fields: [...new Set(drawn)],
        deep: { [name]: { _aggregate, ...(group && { _group: [group] }) } },
      },
    };
  }
  return { collection, query: { ...limits, fields: [...new Set(drawn)] } };
}

function drawPath(
  facts: ReadonlyMap<string, Stated>,
  collection: string,
  depth: number,
  random: (below: number) => number,
): string {
  const own = facts.get(collection);
  const relations = [...(own?.relations ?? [])];
  const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length || 1)];
  if (depth > 0 && relations.length > 0 && random(2) === 0) {
    const [name = '', { kind = '', texts = [] } = {}] = pick(relations) ?? [];
    const [target = '', , , ...linked] = texts;
    const scope = pick(linked);
    if (kind === 'Links' && scope !== undefined && random(2) === 0) {
      return `${name}.item:${scope}.${drawPath(facts, scope, 0, random)}`;
    }
    return `${name}.${drawPath(facts, target, kind === 'Links' ? 0 : depth - 1, random)}`;
  }
  if (random(8) === 0) return depth > 1 && random(2) === 0 ? '*.*' : '*';
  if (own !== undefined && own.functions.length > 0 && random(4) === 0) return pick(own.functions) ?? '*';
  return pick(own?.fields ?? []) ?? '*';
}
