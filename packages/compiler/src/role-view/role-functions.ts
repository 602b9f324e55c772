/** Functions of the database as an access class may call them. */
import type { AccessClass, ArgumentDescriptor, FunctionResult } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { NoteReader } from './notes.ts';
import type { RoleCollection, RoleFunction } from './role-view.ts';

/** Functions that a class may call; with null, every function. One that reads items needs a collection that is read. */
export function roleFunctions(
  { functions = [] }: Api,
  access: AccessClass | null,
  collections: readonly RoleCollection[],
  note: NoteReader,
): readonly RoleFunction[] {
  const grants = access === null ? null : new Map(access.functions?.map((grant) => [grant.function, grant]));
  const readable = new Map(
    collections.flatMap((collection) => (collection.readable ? [[collection.name, collection] as const] : [])),
  );
  return functions.flatMap(({ descriptor, note: comment, graphqlEnums = [] }): readonly RoleFunction[] => {
    const { name, reads, arguments: all, returns } = descriptor;
    const grant = grants === null ? { function: name } : grants.get(name);
    if (grant === undefined) return [];
    const items = returns.kind === 'items' ? (readable.get(returns.collection) ?? null) : null;
    if (returns.kind === 'items' && items === null && reads) return [];
    const fixed = new Set(grant.args?.map((argument) => argument.name));
    return [
      {
        name,
        reads,
        note: note(comment),
        arguments: all.filter((argument) => !fixed.has(argument.name)),
        returns: resultOf(returns, items),
        items,
        graphqlEnums: graphqlEnums.filter((found) => found.part === 'result' || !fixed.has(found.name)),
      },
    ];
  });
}

/** Items of a collection that cannot be read are no result. */
function resultOf(returns: FunctionResult, items: RoleCollection | null): FunctionResult {
  return returns.kind === 'items' && items === null ? { kind: 'nothing' } : returns;
}

/** Tells the arguments that must be given. */
export function requiredArguments(args: readonly ArgumentDescriptor[]): readonly string[] {
  return args.filter(({ optional }) => optional !== true).map(({ name }) => name);
}
