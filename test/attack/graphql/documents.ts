/** Random valid documents over a schema: aliases, fragments, conditions, variables, every kind of relation. */
import fc from 'fast-check';
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { FieldDescriptor, GraphqlCollection, GraphqlIndex } from '../../../packages/runtime/src/language/index.ts';

/** A document with values of its variables. */
export interface RandomDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What documents are made over. */
export interface DocumentWorld {
  readonly schema: GraphQLSchema;
  readonly index: GraphqlIndex;
  /** Values of a field as the data has them, to compare with. */
  readonly valuesOf: (collection: string, field: string) => readonly unknown[];
}

interface Drawing extends DocumentWorld {
  readonly below: (limit: number) => number;
  readonly variables: Map<string, { readonly type: string; readonly value: unknown }>;
  readonly fragments: string[];
  aliases: number;
  /** Fields that may still be drawn. */
  budget: number;
}

const numeric: ReadonlySet<FieldDescriptor['type']> = new Set(['integer', 'bigInteger']);
const aggregates = ['count', 'countDistinct', 'min', 'max', 'sum'];
const functions: ReadonlySet<string> = new Set(['year', 'month', 'day', 'hour', 'minute', 'second', 'count']);

/** Draws a document. */
export function drawDocument(world: DocumentWorld, g: fc.GeneratorValue): RandomDocument {
  const draw: Drawing = {
    ...world,
    below: (limit) => g(fc.nat, { max: limit - 1 }),
    variables: new Map(),
    fragments: [],
    aliases: 0,
    budget: 40,
  };
  const query = world.schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const roots = Array.from({ length: 1 + draw.below(3) }, () => drawRoot(draw, query));
  if (draw.below(6) === 0) roots.push('__typename');
  const definitions = [...draw.variables].map(([name, { type }]) => `$${name}: ${type}`);
  const head = definitions.length === 0 ? 'query' : `query (${definitions.join(', ')})`;
  const given = [...draw.variables].filter(([, { value }]) => value !== undefined);
  return {
    text: [`${head} { ${roots.join(' ')} }`, ...draw.fragments].join('\n'),
    variables: Object.fromEntries(given.map(([name, { value }]) => [name, value])),
  };
}

function pick<T>(draw: Drawing, from: readonly T[]): T {
  const one = from[draw.below(from.length)];
  if (one === undefined) throw new Error('There is nothing to draw from.');
  return one;
}

function alias(draw: Drawing): string {
  draw.aliases += 1;
  return `a${draw.aliases}`;
}

function drawRoot(draw: Drawing, query: GraphQLObjectType): string {
  const fields = Object.values(query.getFields()).filter(({ name }) => name !== '_empty');
  const field = pick(draw, fields);
  const root = draw.index.roots.items.query.get(field.name);
  const type = getNamedType(field.type);
  if (root === undefined || !('collection' in root) || !isObjectType(type)) return '__typename';
  const names = draw.index.byName(root.collection.name);
  if (names === undefined) return '__typename';
  const head = `${alias(draw)}: ${field.name}`;
  if (root.operation === 'byKey') {
    const parts = root.collection.key.map((key) => draw.valuesOf(root.collection.name, key));
    const at = draw.below(Math.max(parts[0]?.length ?? 1, 1));
    const id = draw.below(8) === 0 ? '987654' : parts.map((values) => String(values[at])).join(',');
    const argument = draw.below(2) === 0 ? JSON.stringify(id) : variable(draw, 'ID!', id);
    return `${head}(id: ${argument}) { ${drawSelection(draw, type, 3, false)} }`;
  }
  if (root.operation === 'aggregate') return `${head}${drawAggregate(draw, names, type)}`;
  return `${head}${drawArguments(draw, names, field.args)} { ${drawSelection(draw, type, 3, false)} }`;
}

function variable(draw: Drawing, type: string, value: unknown): string {
  const name = `v${draw.variables.size}`;
  draw.variables.set(name, { type, value });
  return `$${name}`;
}

function condition(draw: Drawing): string {
  if (draw.below(10) > 0) return '';
  const name = pick(draw, ['include', 'skip']);
  const value = draw.below(2) === 0;
  return ` @${name}(if: ${draw.below(3) === 0 ? String(value) : variable(draw, 'Boolean!', value)})`;
}

/** `alone`: every field has a name of its own, because types beside this one may have others under the same name. */
function drawSelection(draw: Drawing, type: GraphQLObjectType, depth: number, alone: boolean): string {
  const names = draw.index.byType(type.name);
  const parts = Array.from({ length: 1 + draw.below(4) }, (): string => {
    const kind = draw.below(12);
    if (kind === 0) return '__typename';
    if (kind === 1)
      return `... ${draw.below(2) === 0 ? '' : `on ${type.name}`}${condition(draw)} { ${drawSelection(draw, type, depth, alone)} }`;
    if (kind === 2) return drawFragment(draw, type, depth, alone);
    return drawField(draw, names, type, depth, alone);
  });
  return parts.join(' ');
}

function drawFragment(draw: Drawing, type: GraphQLObjectType, depth: number, alone: boolean): string {
  const name = `F${draw.fragments.length}`;
  const at = draw.fragments.push('') - 1;
  draw.fragments[at] = `fragment ${name} on ${type.name} { ${drawSelection(draw, type, depth, alone)} }`;
  return `...${name}${condition(draw)}`;
}

function drawField(
  draw: Drawing,
  names: GraphqlCollection | undefined,
  type: GraphQLObjectType,
  depth: number,
  alone: boolean,
): string {
  draw.budget -= 1;
  const fields = Object.values(type.getFields()).filter(({ name, type: of }) => {
    const inner = getNamedType(of);
    // Not every float of the data is one of GraphQL's.
    if (name === '_empty' || inner.name === 'Float') return false;
    return (depth > 0 && draw.budget > 0) || (!isObjectType(inner) && !isUnionType(inner));
  });
  if (fields.length === 0) return '__typename';
  const field = pick(draw, fields);
  const inner = getNamedType(field.type);
  const member = names?.output.get(field.name);
  if (isUnionType(inner)) {
    const types = draw.schema.getPossibleTypes(inner).filter(() => draw.below(3) > 0);
    const parts = types.map((one) => `... on ${one.name} { ${drawSelection(draw, one, depth - 1, true)} }`);
    return `${alias(draw)}: ${field.name}${condition(draw)} { __typename ${parts.join(' ')} }`;
  }
  if (!isObjectType(inner)) {
    const named = alone || draw.below(3) === 0 ? `${alias(draw)}: ${field.name}` : field.name;
    return named + condition(draw);
  }
  if (member?.kind === 'functions') {
    const calls = Object.keys(inner.getFields()).filter((name) => functions.has(name));
    const called = calls.length === 0 ? '__typename' : pick(draw, calls);
    return `${alias(draw)}: ${field.name} { ${called} __typename }`;
  }
  const target = draw.index.byType(inner.name);
  const given = draw.below(2) === 0 || target === undefined ? '' : drawArguments(draw, target, field.args);
  const named = alone || given !== '' || draw.below(3) === 0 ? `${alias(draw)}: ${field.name}` : field.name;
  return `${named}${given}${condition(draw)} { ${drawSelection(draw, inner, depth - 1, alone)} }`;
}

function drawAggregate(draw: Drawing, names: GraphqlCollection, type: GraphQLObjectType): string {
  const fields = names.descriptor.fields.filter((one) => numeric.has(one.type));
  const parts = ['countAll'];
  for (const name of aggregates.filter(() => draw.below(2) === 0)) {
    const inner = getNamedType(type.getFields()[name]?.type);
    if (!isObjectType(inner)) continue;
    const usable = fields.filter((one) => inner.getFields()[one.name] !== undefined);
    if (usable.length > 0) parts.push(`${alias(draw)}: ${name} { ${pick(draw, usable).name} __typename }`);
  }
  if (draw.below(2) === 0) return ` { ${parts.join(' ')} }`;
  const readable = fields.filter((one) => getNamedType(type.getFields().max?.type) && readableField(draw, names, one));
  const group = readable.length === 0 ? undefined : pick(draw, readable).name;
  return group === undefined ? ` { ${parts.join(' ')} }` : `(groupBy: ["${group}"]) { group ${parts.join(' ')} }`;
}

function readableField({ schema }: Drawing, names: GraphqlCollection, { name }: FieldDescriptor): boolean {
  const type = schema.getType(names.descriptor.name);
  return isObjectType(type) && type.getFields()[name] !== undefined;
}

type Arguments = readonly { readonly name: string; readonly type: GraphQLInputType }[];

function drawArguments(draw: Drawing, names: GraphqlCollection, declared: Arguments): string {
  const parts = declared.flatMap((argument): string | readonly [] => {
    if (draw.below(3) > 0) return [];
    const { name } = argument;
    if (name === 'limit') return `limit: ${drawNumber(draw, pick(draw, [0, 1, 2, 3, 7, 30, -1]))}`;
    if (name === 'offset') return `offset: ${drawNumber(draw, draw.below(4))}`;
    if (name === 'sort') {
      const fields = names.descriptor.fields.filter((one) => numeric.has(one.type) && readableField(draw, names, one));
      if (fields.length === 0) return [];
      return `sort: ["${draw.below(2) === 0 ? '-' : ''}${pick(draw, fields).name}"]`;
    }
    if (name !== 'filter') return [];
    const type = getNamedType(argument.type);
    if (!isInputObjectType(type)) return [];
    const filter = drawFilter(draw, names, type, 2);
    if (draw.below(3) === 0) return `filter: ${variable(draw, type.name, draw.below(6) === 0 ? null : plain(filter))}`;
    return `filter: ${printed(draw, filter)}`;
  });
  return parts.length === 0 ? '' : `(${parts.join(', ')})`;
}

/** A variable without a value is as if the argument was not there. */
function drawNumber(draw: Drawing, value: number): string {
  const kind = draw.below(5);
  if (kind === 0) return variable(draw, 'Int', value);
  if (kind === 1) return variable(draw, 'Int', undefined);
  return String(value);
}

/** An operand knows its type, so that a variable can stand for it. */
interface Operand {
  readonly operand: unknown;
  readonly type: string;
}

type Filter = { readonly [name: string]: Filter | readonly Filter[] | Operand };

function drawFilter(draw: Drawing, names: GraphqlCollection, type: GraphQLInputObjectType, depth: number): Filter {
  const fields = type.getFields();
  const usable = names.descriptor.fields.filter(
    ({ name, type: of }) => fields[name] !== undefined && (numeric.has(of) || of === 'string' || of === 'boolean'),
  );
  const kind = draw.below(8);
  if (kind === 0 && depth > 0) {
    const key = pick(draw, ['_and', '_or']);
    return { [key]: Array.from({ length: draw.below(3) }, () => drawFilter(draw, names, type, depth - 1)) };
  }
  if (kind <= 2 && depth > 0) {
    const relations = names.descriptor.relations.filter(({ name }) => fields[name] !== undefined);
    if (relations.length > 0) {
      const relation = pick(draw, relations);
      const target = draw.index.byName(relation.target);
      const inner = getNamedType(fields[relation.name]?.type);
      if (target !== undefined && isInputObjectType(inner) && (relation.kind === 'm2o' || draw.below(3) === 0)) {
        return { [relation.name]: drawFilter(draw, target, inner, depth - 1) };
      }
      const quantifier = pick(draw, ['_some', '_none']);
      const rows = isInputObjectType(inner) ? getNamedType(inner.getFields()[quantifier]?.type) : undefined;
      if (target !== undefined && isInputObjectType(rows)) {
        return { [relation.name]: { [quantifier]: drawFilter(draw, target, rows, depth - 1) } };
      }
    }
  }
  if (usable.length === 0) return {};
  const field = pick(draw, usable);
  const operators = getNamedType(fields[field.name]?.type);
  if (!isInputObjectType(operators)) return {};
  const known = draw.valuesOf(names.descriptor.name, field.name).filter((value) => value !== null);
  const operator = pick(
    draw,
    field.type === 'boolean' ? ['_eq', '_null'] : ['_eq', '_gt', '_lte', '_in', '_null', '_neq'],
  );
  const declared = operators.getFields()[operator];
  if (declared === undefined || known.length === 0) return {};
  const one = pick(draw, known);
  const operand = operator === '_null' ? draw.below(2) === 0 : operator === '_in' ? [one, pick(draw, known)] : one;
  return { [field.name]: { [operator]: { operand, type: String(declared.type) } } };
}

function isOperand(value: Filter | readonly Filter[] | Operand): value is Operand {
  return Object.hasOwn(value, 'operand');
}

/** A filter as the value of a variable. */
function plain(filter: Filter | readonly Filter[] | Operand): unknown {
  if (isOperand(filter)) return filter.operand;
  if (Array.isArray(filter)) return filter.map(plain);
  return Object.fromEntries(Object.entries(filter).map(([name, inner]) => [name, plain(inner)]));
}

/** A filter as a literal, with variables here and there. */
function printed(draw: Drawing, filter: Filter | readonly Filter[] | Operand): string {
  if (isOperand(filter)) {
    return draw.below(3) === 0 ? variable(draw, filter.type, filter.operand) : JSON.stringify(filter.operand);
  }
  if (Array.isArray(filter)) return `[${filter.map((one) => printed(draw, one)).join(', ')}]`;
  return `{ ${Object.entries(filter)
    .map(([name, inner]) => `${name}: ${printed(draw, inner)}`)
    .join(', ')} }`;
}
