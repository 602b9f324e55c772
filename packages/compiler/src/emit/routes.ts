import type { ApiCollection, Operation } from '../api.ts';
import { createFacts } from '../memory/facts.ts';
import { printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { array, call, code, data, printValue } from '../print/value.ts';
import type { Render, View } from './templates.ts';

/** Whether a collection has paths below `/items`; the product's own are reached through relations only. */
export function hasRoutes({ operations }: ApiCollection): boolean {
  return operations.length > 0;
}

/** Prints the file of one collection's routes: one typed call each. */
export function emitRoutes(collection: ApiCollection, render: Render): string {
  return render(
    'routes',
    textsOf(collection, () => printRoutes(collection)),
  );
}

const textsOf = createFacts<ApiCollection, View>();

function printRoutes({ names, descriptor, operations }: ApiCollection): View {
  const summary = commentText(`Routes of \`${descriptor.name}\`.`);
  const calls = operations.map(({ kind, method, path }) =>
    call(functions[kind], data(`${method} ${path}`), code(names.constant)),
  );
  const start = `export const ${names.routes}: readonly Route[] = `;
  return {
    about: summary,
    imports: printImports([
      { from: '@platform/runtime', names: ['type Route', ...operations.map(({ kind }) => functions[kind])] },
      { from: `../collections/${names.file}.ts`, names: [names.constant] },
    ]),
    summary,
    constant: names.routes,
    routes: printValue(array(calls), start.length, 1, 0),
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
