import type { ApiCollection, Operation } from '../api.ts';
import type { DiskCache } from '../cache/disk-cache.ts';
import { type ConstantDeclaration, printConstant } from '../print/declaration.ts';
import { call, code } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { list } from '../print/type.ts';
import { declareDescriptor } from './descriptor.ts';
import { createModuleCache, type ModuleText, renderModule } from './module-texts.ts';
import type { Render } from './templates.ts';

/** True if a collection has paths below `/items`; the platform's own are reached through relations only. */
export function hasRoutes({ operations }: ApiCollection): boolean {
  return operations.length > 0;
}

/** Prints the file of what a server loads of one collection: the facts that the runtime works with, and a call per route. */
export function emitRoutes(collection: ApiCollection, render: Render, diskCache: DiskCache | null): string {
  const { descriptor } = collection;
  const texts = textsOf(collection, [], diskCache, () => printRoutes(collection));
  const about = hasRoutes(collection)
    ? `Facts and routes of \`${descriptor.name}\`.`
    : `Facts of \`${descriptor.name}\`.`;
  return renderModule(render, 'routes', about, texts);
}

const textsOf = createModuleCache('server routes');

function printRoutes(collection: ApiCollection): ModuleText {
  const used = hasRoutes(collection) ? ['type Route', ...collection.operations.map(({ kind }) => functions[kind])] : [];
  const constants = [declareDescriptor(collection), ...(hasRoutes(collection) ? [declareRoutes(collection)] : [])];
  return {
    imports: printImports([{ from: '@tablewright/runtime', names: ['type CollectionDescriptor', ...used] }]),
    declarations: constants.map(printConstant).join('\n'),
  };
}

function declareRoutes({ names, descriptor, operations }: ApiCollection): ConstantDeclaration {
  const calls = operations.map(({ kind, method, path }) =>
    call(functions[kind], `${method} ${path}`, code(names.constant)),
  );
  return {
    name: names.routes,
    notes: [`Routes of \`${descriptor.name}\`.`],
    type: list('Route'),
    value: calls,
  };
}

/** The runtime's functions that make routes. */
const functions: Readonly<Record<Operation['kind'], string>> = {
  list: 'listItems',
  search: 'searchItems',
  read: 'readItem',
  readSingleton: 'readSingleton',
  create: 'createItems',
  update: 'updateItem',
  updateMany: 'updateItems',
  updateSingleton: 'updateSingleton',
  delete: 'deleteItem',
  deleteMany: 'deleteItems',
};
