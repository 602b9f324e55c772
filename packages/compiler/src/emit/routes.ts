import {
  type CollectionDescriptor,
  type ColumnPair,
  type ConstraintDescriptor,
  type Dialect,
  defaultDialect,
  type FieldDescriptor,
  type ManyToOne,
  type RelationDescriptor,
  type UsualFacts,
  usualField,
  usualInverse,
  type WriteAction,
} from '@tablewright/runtime/language';
import type { ApiCollection } from '../api.ts';
import { createCache } from '../cache/memo-cache.ts';
import { isSame } from '../cache/same.ts';
import { printConstant } from '../print/declarations.ts';
import { type Calls, code, createCalls, type MakeCall, type Value } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { createConditions } from './conditions.ts';
import { type ModuleText, type Render, renderModule } from './templates.ts';

/** True if a collection has paths of its own; others are reached through relations only. */
export function hasRoutes({ operations }: ApiCollection): boolean {
  return operations.length > 0;
}

export function writtenActions({ operations }: ApiCollection): readonly WriteAction[] {
  const kinds = new Set(operations.map(({ kind }) => kind));
  const isUpdated = kinds.has('update') || kinds.has('updateSingleton');
  return [
    ...(kinds.has('create') ? ['create' as const] : []),
    ...(isUpdated ? ['update' as const] : []),
    ...(kinds.has('delete') ? ['delete' as const] : []),
  ];
}

/** Prints the file that a server loads of one collection: the facts that the runtime works with, and its routes. */
export function emitRoutes(collection: ApiCollection, dialect: Dialect, render: Render): string {
  const { descriptor } = collection;
  const facts = new Map([['dialect', dialect]]);
  const texts = textsOf(collection, [facts], (watch) =>
    printRoutes(collection, watch(facts).get('dialect') ?? dialect),
  );
  const about = hasRoutes(collection)
    ? `Facts and routes of \`${descriptor.name}\`.`
    : `Facts of \`${descriptor.name}\`.`;
  return renderModule(render, 'routes', about, texts);
}

const textsOf = createCache<ModuleText>();

function printRoutes(collection: ApiCollection, dialect: Dialect): ModuleText {
  const { names, descriptor, source } = collection;
  const calls = createCalls();
  const { used, call } = calls;
  const constant = (name: string, note: string, value: Value): string => printConstant({ name, notes: [note], value });
  const facts = stateCollection(descriptor, dialect, calls);
  const declared = [constant(names.constant, `\`${descriptor.name}\`: ${source}.`, facts)];
  if (hasRoutes(collection)) {
    const routes = call('itemRoutes', code(names.constant), ...writtenActions(collection));
    declared.push(constant(names.routes, `Routes of \`${descriptor.name}\`.`, routes));
  }
  return {
    imports: printImports([{ from: '@tablewright/runtime', names: [...used] }]),
    declarations: declared.join('\n'),
  };
}

export function stateCollection(descriptor: CollectionDescriptor, dialect: Dialect, calls: Omit<Calls, 'used'>): Value {
  const { call } = calls;
  const { name, table, key, singleton, writable, fields, relations, links, constraints, tenant, ...others } =
    descriptor;
  const usual = { dialect, writable };
  const isUsual = isSame(constraints, writable ? [] : undefined);
  return call('collection', name, table, {
    ...(dialect !== defaultDialect && { dialect }),
    key,
    ...(singleton && { singleton }),
    ...(!writable && { writable }),
    ...others,
    ...(tenant !== undefined && { tenant: createConditions(calls).state(tenant) }),
    fields: fields.map((field) => stateField(field, usual, call)),
    ...(relations.length > 0 && { relations: relations.map((relation) => stateRelation(relation, call)) }),
    ...(links && { links: links.map((link) => stateLink(link, call)) }),
    ...(!isUsual && { constraints: constraints?.map((constraint) => stateConstraint(constraint, call)) }),
  });
}

function stateField(field: FieldDescriptor, usualFacts: UsualFacts, call: MakeCall): Value {
  const usual = usualField(field, usualFacts);
  const { name, type, ...facts } = field;
  const withoutUsual = usual.comparison !== undefined && field.comparison === undefined && { comparison: null };
  return call('field', name, type, ...stated({ ...facts, ...withoutUsual }, usual));
}

/** Facts that differ from the usual ones, unless there are none. */
function stated(facts: object, usual: object): readonly Value[] {
  const compared = new Map<string, unknown>(Object.entries(usual));
  const different = Object.entries(facts).filter(([fact, value]) => !isSame(value, compared.get(fact)));
  return different.length === 0 ? [] : [Object.fromEntries(different)];
}

function statePairs(list: readonly ColumnPair[], call: MakeCall): readonly Value[] {
  return list.map(({ from, to, formula }) => call('pair', from, to, ...(formula ? [formula] : [])));
}

function stateLink({ name, target, on, nullable }: ManyToOne, call: MakeCall): Value {
  return call('foreignLink', name, target, statePairs(on, call), ...(nullable ? [] : [false]));
}

function stateRelation(relation: RelationDescriptor, call: MakeCall): Value {
  const { kind, name, target, ...facts } = relation;
  const pairs = (list: readonly ColumnPair[]): readonly Value[] => statePairs(list, call);
  const columns =
    relation.kind === 'm2m'
      ? { near: pairs(relation.near), far: pairs(relation.far) }
      : { on: pairs(relation.on), ...(relation.kind === 'm2o' && { field: relation.field ?? null }) };
  const inverse = relation.kind === 'o2m' && { inverse: usualInverse(relation.on) };
  const usual = { nullable: false, onDeselect: 'nullify', field: usualFieldOf(relation), ...inverse };
  return call(kind, name, target, ...stated({ ...facts, ...columns }, usual));
}

/** The field that a many-to-one reads through unless it is said. */
function usualFieldOf(relation: RelationDescriptor): string | null {
  return relation.kind === 'm2o' && relation.on.length === 1 ? relation.name : null;
}

const constraintCalls: Readonly<Record<ConstraintDescriptor['type'], string>> = {
  unique: 'unique',
  foreign_key: 'foreignKey',
  check: 'check',
};

function stateConstraint({ name, type, fields, ...facts }: ConstraintDescriptor, call: MakeCall): Value {
  return call(constraintCalls[type], name, fields, ...stated(facts, {}));
}
