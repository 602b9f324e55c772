/** Functions of the database: types of their arguments and results. */
import type { ArgumentDescriptor, ResultMember } from '@tablewright/runtime/language';
import type { DeclaredMember } from '../print/declaration.ts';
import { member } from '../print/declarations.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { array, generic, nullable, object, type Type } from '../print/type.ts';
import type { RoleFunction } from '../role-view/role-view.ts';
import type { ClientCollections } from './client-collections.ts';
import { sentType, takenType } from './values.ts';

/** One member for each function: the type of its call. */
export function functionMembers(
  functions: readonly RoleFunction[],
  collections: ClientCollections,
): readonly DeclaredMember[] {
  return functions.map((called) =>
    member(called.name, overload(called, collections), called.note ? [called.note] : []),
  );
}

function overload(called: RoleFunction, collections: ClientCollections): Type {
  const { name, returns } = called;
  const start = [stringLiteral(name), argumentsType(called.arguments)] as const;
  if (returns.kind === 'items') {
    const facts = collections.get(returns.collection)?.names.facts ?? 'never';
    return generic('ItemsCall', ...start, 'Schema', facts, returns.many === true ? 'true' : 'false');
  }
  return generic('ValueCall', ...start, outputType(returns));
}

function argumentsType(args: readonly ArgumentDescriptor[]): Type {
  if (args.length === 0) return generic('Record', 'never', 'never');
  return object(
    args.map(({ name, optional, values, ...argument }) => ({
      name: propertyKey(name),
      optional: optional === true,
      type: nullable(takenType({ ...argument, wire: { kind: 'text' } }, values ?? null)),
    })),
  );
}

function outputType(returns: Exclude<RoleFunction['returns'], { kind: 'items' }>): Type {
  if (returns.kind === 'nothing') return 'undefined';
  const single = returns.kind === 'value' ? memberType(returns.value) : objectType(returns.members);
  return returns.many === true ? array(single) : single;
}

function objectType(members: readonly ResultMember[]): Type {
  return object(
    members.map((member) => ({ name: propertyKey(member.name), optional: false, type: memberType(member) })),
  );
}

function memberType({ values, ...member }: ResultMember): Type {
  return nullable(sentType(member, values ?? null));
}
