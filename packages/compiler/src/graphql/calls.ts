/** Root fields that call functions of the database, and the types of their results. Source: docs/functions.md. */
import { type ArgumentDescriptor, graphqlName, type ResultMember } from '@tablewright/runtime/language';
import type { MemberEnum } from '../api.ts';
import { type PrintedField, type SdlField, sdlField, sdlType } from '../print/sdl.ts';
import type { RoleFunction } from '../role-view/role-view.ts';
import type { GraphqlCollections } from './graphql-collections.ts';
import { listArguments } from './items.ts';
import { nonNull, valueType } from './values.ts';

/** `region_totals_result`: the type of objects that a function gives. */
export function resultTypeName(name: string): string {
  return `${graphqlName(name)}_result`;
}

/** Root fields of functions. */
export function functionRoots(schema: GraphqlCollections, kind: 'query' | 'mutation'): readonly PrintedField[] {
  return schema.view.functions
    .filter(({ reads }) => reads === (kind === 'query'))
    .map((called) => sdlField(rootOf(called, schema)));
}

/** Types of objects that functions give. */
export function functionTypesOf({ view }: GraphqlCollections): readonly string[] {
  return view.functions.flatMap((called) => {
    const { name, returns } = called;
    if (returns.kind !== 'objects') return [];
    const members = returns.members.map((member) => ({
      name: graphqlName(member.name),
      type: memberType(member, called),
    }));
    return [sdlType('type', resultTypeName(name), members)];
  });
}

function rootOf(called: RoleFunction, schema: GraphqlCollections): SdlField {
  const { name, note } = called;
  const args = called.arguments.map((argument) => argumentOf(argument, called));
  const names = new Set(args.map((argument) => argument.name));
  const options = optionsOf(called, schema).filter((option) => !names.has(option.name));
  return { name: graphqlName(name), type: resultType(called, schema), args: [...args, ...options], note };
}

function argumentOf({ name, optional, ...argument }: ArgumentDescriptor, called: RoleFunction): SdlField {
  const type = valueType({ ...argument, wire: { kind: 'text' } }, false, enumOf(called, 'argument', name), true);
  return { name: graphqlName(name), type: nonNull(type, optional === true) };
}

function optionsOf({ returns, items }: RoleFunction, { collections }: GraphqlCollections): readonly SdlField[] {
  if (!('many' in returns) || returns.many !== true) return [];
  const filter = items === null ? undefined : collections.get(items.name)?.types.filter;
  if (filter !== undefined) return listArguments(filter, false);
  return [
    { name: 'limit', type: 'Int' },
    { name: 'offset', type: 'Int' },
  ];
}

function resultType(called: RoleFunction, { collections }: GraphqlCollections): string {
  const { name, returns, items, reads } = called;
  if (returns.kind === 'nothing') return 'Boolean';
  if (returns.kind === 'value') {
    const type = memberType(returns.value, called);
    return returns.many === true ? `[${type}]` : type;
  }
  const type =
    returns.kind === 'objects' ? resultTypeName(name) : (collections.get(items?.name ?? '')?.types.item ?? 'Boolean');
  if (returns.many !== true) return type;
  return reads ? `[${type}!]!` : `[${type}!]`;
}

function memberType(member: ResultMember, called: RoleFunction): string {
  return valueType(member, false, enumOf(called, 'result', member.name));
}

function enumOf(
  { graphqlEnums }: RoleFunction,
  part: MemberEnum['part'],
  name: string,
): MemberEnum['type'] | undefined {
  return graphqlEnums.find((found) => found.part === part && found.name === name)?.type;
}
