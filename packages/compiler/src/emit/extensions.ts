/** Links the API with the project's own code: the types for writing extensions, and their list. */
import type { Api, ApiCollection } from '../api.ts';
import { createFacts, createFactsOfNames } from '../cache/same.ts';
import type { ExtensionSource } from '../extensions/files.ts';
import { type DeclaredMember, member, printDeclarations } from '../print/declarations.ts';
import { code, printValue } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { commentText, stringLiteral } from '../print/text.ts';
import { generic, unionOfTexts } from '../print/type.ts';
import { hasRoutes } from './routes.ts';
import type { Render } from './templates.ts';

/** Prints the map from collections to their types and the names of roles, and `defineExtension` with them. */
export function emitExtensionTypes(api: Api, render: Render): string {
  const collections = api.collections.filter(hasRoutes);
  const named = collections.flatMap((collection) => [
    collection.descriptor.name,
    collection.names.file,
    kindOf(collection),
    ...typesOf(collection),
  ]);
  const names = [String(collections.length), ...named, ...rolesIn(api)];
  return printedBy(render, () => createFactsOfNames<string>())(names, () => printTypes(api, collections, render));
}

/** Printed text follows from names, which a change of one collection hardly ever changes. */
const printedBy = createFacts<Render, ReturnType<typeof createFactsOfNames<string>>>();

function printTypes(api: Api, collections: readonly ApiCollection[], render: Render): string {
  const members = collections.map(memberOf);
  const kinds = new Set(collections.map(kindOf));
  const notes = ['Collections with their types, as extensions see them.'];
  return render('extensionTypes', {
    about: aboutExtensions,
    imports: printImports([
      {
        from: '@tablewright/runtime',
        names: ['type DefineExtension', ...[...kinds].map((name) => `type ${name}`)],
      },
      ...collections.map((collection) => ({
        from: `./collections/${collection.names.file}.js`,
        names: typesOf(collection).map((name) => `type ${name}`),
      })),
    ]),
    declarations: printDeclarations(
      [
        { kind: 'interface', name: 'Collections', notes, members },
        {
          kind: 'alias',
          name: 'Role',
          notes: ['Names of roles, as routes grant themselves to them.'],
          type: unionOfTexts(rolesIn(api).map(stringLiteral)),
        },
      ],
      'Record<string, never>',
    ).trimEnd(),
  });
}

const aboutExtensions = 'Functions and types for extensions.';

export function emitExtension(render: Render): string {
  return render('extension', { about: aboutExtensions });
}

function rolesIn({ access }: Api): readonly string[] {
  return [...new Set(access.flatMap(({ access: { roles } }) => roles))].sort();
}

function memberOf(collection: ApiCollection): DeclaredMember {
  const { descriptor } = collection;
  return member(descriptor.name, generic(kindOf(collection), ...typesOf(collection)));
}

function kindOf({ operations }: ApiCollection): string {
  const kinds = new Set(operations.map(({ kind }) => kind));
  if (kinds.has('create')) return 'CollectionTypes';
  return kinds.has('updateSingleton') ? 'SingletonTypes' : 'ReadableTypes';
}

/** In the order in which the kinds take them. */
function typesOf(collection: ApiCollection): readonly string[] {
  const { key, item, create, update, filter } = collection.names;
  const kind = kindOf(collection);
  if (kind === 'CollectionTypes') return [key, item, create, update, filter];
  return kind === 'SingletonTypes' ? [item, update, filter] : [item, filter];
}

/** Prints the list of the extensions, and what the types of their routes say. */
export function emitExtensions({ customRoutes }: Api, sources: readonly ExtensionSource[], render: Render): string {
  const imported = sources.map(({ from }, index) => ({ from, constant: `extension_${index + 1}` }));
  const start = 'export const extensions = ';
  const routes = 'export const customRoutes = ';
  return render('extensions', {
    about: commentText("The project's own code."),
    imports: printImports(imported.map(({ from, constant }) => ({ from, names: [`default as ${constant}`] }))),
    extensions: printValue(
      imported.map(({ constant }) => code(constant)),
      start.length,
      1,
      0,
    ),
    routes: printValue(customRoutes, routes.length, 1, 0),
  });
}
