/** The law of documents: each is valid for the roles of its folder (`documents/editor/articles.graphql`). */

import type { Diagnostic } from '@tablewright/introspect';
import {
  type AccessClass,
  findOrCreate,
  type GraphqlScope,
  graphqlRootTypes,
  type KnownOperation,
} from '@tablewright/runtime/language';
import type {
  ASTNode,
  DefinitionNode,
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import type { Api } from '../api.ts';
import type { ModuleSource } from '../extensions/files.ts';
import { emitGraphql } from '../graphql/index.ts';
import { sha256 } from '../print/json.ts';
import { loadGraphql } from '../print/libraries.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';

/** One operation with the fragments that it uses. */
export interface CheckedOperation extends KnownOperation {
  /** Schema that the document was checked against. */
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  /** Text that clients send. */
  readonly text: string;
}

type Asker = Pick<CheckedOperation, 'role' | 'accessClass'>;

interface CheckedDocuments {
  readonly operations: readonly CheckedOperation[];
  readonly diagnostics: readonly Diagnostic[];
}

export function checkDocuments(api: Api, sources: readonly ModuleSource[]): CheckedDocuments {
  if (sources.length === 0) return { operations: [], diagnostics: [] };
  const byRole = Map.groupBy(sources, ({ path }) => (path.includes('/') ? (path.split('/')[0] ?? '') : ''));
  const roles = new Map(api.access.flatMap(({ access }) => access.roles.map((role) => [role, access] as const)));
  const schemas = new Map<AccessClass, Schemas>();
  const checked = [...byRole].map(([role, files]): CheckedDocuments => {
    const access = roles.get(role);
    if (access === undefined)
      return { operations: [], diagnostics: files.map((file) => withoutRole(file, [...roles.keys()])) };
    const built = findOrCreate(schemas, access, () => buildSchemas(emitGraphql(api, access, roleViewOf(api, access))));
    return checkRole({ role, accessClass: access.name }, files, built);
  });
  return {
    operations: checked.flatMap(({ operations }) => operations),
    diagnostics: checked.flatMap(({ diagnostics }) => diagnostics),
  };
}

type Schemas = Readonly<Record<GraphqlScope, GraphQLSchema>>;

/** Both scopes of a schema text. */
function buildSchemas(text: string): Schemas {
  const { buildASTSchema, GraphQLSchema, isObjectType, parse } = loadGraphql();
  const all = buildASTSchema(parse(text, { noLocation: true }), { assumeValid: true, assumeValidSDL: true });
  const scopeOf = (scope: GraphqlScope): GraphQLSchema => {
    const query = all.getType(graphqlRootTypes[scope].query);
    const mutation = all.getType(graphqlRootTypes[scope].mutation);
    return new GraphQLSchema({
      query: isObjectType(query) ? query : null,
      mutation: isObjectType(mutation) ? mutation : null,
      assumeValid: true,
    });
  };
  return { items: scopeOf('items'), system: scopeOf('system') };
}

/** Fragments of a role can stand in any of its files. */
function checkRole(asker: Asker, files: readonly ModuleSource[], schemas: Schemas): CheckedDocuments {
  const { GraphQLError: Fault, getLocation, Kind, parse, Source } = loadGraphql();
  const definitions: DefinitionNode[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { path, text } of files) {
    const source = new Source(text, `documents/${path}`);
    try {
      definitions.push(...parse(source).definitions);
    } catch (error) {
      if (error instanceof RangeError) {
        diagnostics.push(tooDeep(`documents/${path}:1:1`));
        continue;
      }
      if (!(error instanceof Fault)) throw error;
      const { line, column } = getLocation(source, error.positions?.[0] ?? 0);
      diagnostics.push(complaint(`documents/${path}:${line}:${column}`, error.message, null));
    }
  }
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const checked = operations.map((operation) => {
    try {
      return checkOperation(asker, operation, definitions, schemas);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { operations: [], diagnostics: [tooDeep(placeOf(operation))] };
    }
  });
  return {
    operations: checked.flatMap((result) => result.operations),
    diagnostics: [...diagnostics, ...checked.flatMap((result) => result.diagnostics), ...twice(operations)],
  };
}

/** An operation belongs to the scope whose root fields it has; a wrong one is judged by that of items. */
function checkOperation(
  asker: Asker,
  operation: OperationDefinitionNode,
  definitions: readonly DefinitionNode[],
  schemas: Schemas,
): CheckedDocuments {
  const { print, validate } = loadGraphql();
  if (operation.name === undefined) return { operations: [], diagnostics: [nameless(operation)] };
  const document = withFragments(operation, definitions);
  const scope = isOfSystem(operation, document, schemas) ? 'system' : 'items';
  const errors = validate(schemas[scope], document);
  if (errors.length > 0) return { operations: [], diagnostics: errors.map(problemOf) };
  const text = print(document);
  return {
    operations: [
      { ...asker, name: operation.name.value, scope, schema: schemas[scope], document, text, hash: sha256(text) },
    ],
    diagnostics: [],
  };
}

function isOfSystem(
  operation: OperationDefinitionNode,
  { definitions }: DocumentNode,
  { items, system }: Schemas,
): boolean {
  const { Kind } = loadGraphql();
  const rootType = operation.operation === 'query' ? 'getQueryType' : 'getMutationType';
  const here = items[rootType]()?.getFields() ?? {};
  const there = system[rootType]()?.getFields() ?? {};
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  return rootFields(operation, byName).some((name) => !Object.hasOwn(here, name) && Object.hasOwn(there, name));
}

/** Names of fields at the root, also in fragments, which are taken out of `fragments`: each counts once. */
function rootFields(
  { selectionSet }: Pick<OperationDefinitionNode, 'selectionSet'>,
  fragments: Map<string, FragmentDefinitionNode>,
): readonly string[] {
  const { Kind } = loadGraphql();
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value;
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection, fragments);
    const fragment = fragments.get(selection.name.value);
    fragments.delete(selection.name.value);
    return fragment === undefined ? [] : rootFields(fragment, fragments);
  });
}

function twice(operations: readonly OperationDefinitionNode[]): readonly Diagnostic[] {
  const groups = Map.groupBy(operations, ({ name }) => name?.value);
  return [...groups].flatMap(([name, [, ...others]]) => {
    if (name === undefined) return [];
    const message = `There is another operation "${name}" of the role.`;
    return others.map((node) => complaint(placeOf(node), message, 'Give each operation a name of its own.'));
  });
}

function nameless(operation: OperationDefinitionNode): Diagnostic {
  const message = 'The operation has no name.';
  return complaint(placeOf(operation), message, 'Name it: what is generated for it is called by its name.');
}

function withoutRole({ path }: ModuleSource, roles: readonly string[]): Diagnostic {
  const message = `The file lies in no folder of a role, so no role sends its operations.`;
  return complaint(`documents/${path}`, message, `Move it into documents/<role>/; the roles are ${roles.join(', ')}.`);
}

function problemOf({ message, nodes }: GraphQLError): Diagnostic {
  const [node] = nodes ?? [];
  return complaint(node === undefined ? 'documents' : placeOf(node), message, null);
}

/** `documents/editor/articles.graphql:3:5` */
function placeOf({ loc }: ASTNode): string {
  if (loc === undefined) return 'documents';
  const { line, column } = loadGraphql().getLocation(loc.source, loc.start);
  return `${loc.source.name}:${line}:${column}`;
}

/** Parsing and validation call themselves for each level; servers bound what a document costs before either. */
function tooDeep(location: string): Diagnostic {
  return complaint(location, 'The document or its fragments nest too deeply.', 'Ask for less in one document.');
}

function complaint(location: string, message: string, hint: string | null): Diagnostic {
  return { code: 'graphql-document', severity: 'error', place: location, message, hint };
}

/** By definition: the fragments that it names, each once, in the order in which it does. */
type Spreads = ReadonlyMap<DefinitionNode, readonly FragmentDefinitionNode[]>;

/**
 * An operation with the fragments that it uses.
 *
 * The order means nothing to a server, but clients name a document by the hash of its text. So it is the order of the
 * typed document nodes that @graphql-codegen makes: fragments that others use, then the others.
 */
function withFragments(operation: OperationDefinitionNode, definitions: readonly DefinitionNode[]): DocumentNode {
  const { Kind } = loadGraphql();
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const spreads: Spreads = new Map(
    [operation, ...fragments].map((definition) => [definition, spreadIn(definition, fragments)]),
  );
  const named = descend(operation, spreads);
  const below = named.flatMap((fragment) => climb(fragment, spreads).filter((descendant) => descendant !== fragment));
  return { kind: Kind.DOCUMENT, definitions: [operation, ...new Set([...below, ...named])] };
}

/** Fragments that a definition uses, each after those that it uses itself. */
function descend(
  definition: DefinitionNode,
  spreads: Spreads,
  found = new Set<FragmentDefinitionNode>(),
): readonly FragmentDefinitionNode[] {
  for (const fragment of spreads.get(definition) ?? []) {
    if (found.has(fragment)) continue;
    found.add(fragment);
    descend(fragment, spreads, found);
  }
  return [...found];
}

/** A fragment and what it uses, everything after what is below it. One that uses itself is refused later. */
function climb(
  fragment: FragmentDefinitionNode,
  spreads: Spreads,
  visited = new Set<FragmentDefinitionNode>(),
): readonly FragmentDefinitionNode[] {
  visited.add(fragment);
  const others = (spreads.get(fragment) ?? []).flatMap((spread) =>
    visited.has(spread) ? [] : climb(spread, spreads, visited),
  );
  return [...others, fragment];
}

function spreadIn(
  definition: DefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
): readonly FragmentDefinitionNode[] {
  const names = new Set<string>();
  loadGraphql().visit(definition, {
    FragmentSpread({ name }) {
      names.add(name.value);
    },
  });
  return [...names].flatMap((name) => fragments.find((fragment) => fragment.name.value === name) ?? []);
}
