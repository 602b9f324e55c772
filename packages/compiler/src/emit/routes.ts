import type { Dialect, WriteAction } from '@tablewright/runtime/language';
import type { ApiCollection } from '../api.ts';
import { createCache } from '../cache/remember.ts';
import { printConstant } from '../print/declaration.ts';
import { code, createCalls, type Value } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { stateCollection } from './descriptor.ts';
import { type ModuleText, renderModule } from './module-texts.ts';
import type { Render } from './templates.ts';

/** True if a collection has paths of its own; others are reached through relations only. */
export function hasRoutes({ operations }: ApiCollection): boolean {
  return operations.length > 0;
}

/** Writes that the routes of a collection lead to. */
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
