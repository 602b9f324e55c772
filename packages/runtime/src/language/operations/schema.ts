/** Schema of a value that an operation takes or gives: JSON Schema with members of our own, as all surfaces need it. */
import type { JsonValue } from '../values/parse-text.ts';

type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** A schema. Its members stand in the document in the order in which they are declared. */
export interface ValueSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly format?: 'email' | 'uuid' | 'uri' | 'password';
  readonly contentMediaType?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly minItems?: number;
  readonly items?: ValueSchema;
  readonly anyOf?: readonly ValueSchema[];
  readonly description?: string;
  /** Schema of members with any names, or whether there may be some. */
  readonly additionalProperties?: boolean | ValueSchema;
  readonly members?: Members;
  /** Name of a component of the document, which operations refer to. */
  readonly component?: string;
  /** Type in GraphQL, where it does not follow from the rest. For an object and an enum: name of the type. */
  readonly graphql?: string;
  /** Name of the argument in GraphQL. Default: that of the member. */
  readonly argument?: string;
  /** Description in GraphQL. */
  readonly note?: string;
  /** Parameter of the query, and its text, that say true in place of a member of the body. */
  readonly flag?: readonly [name: string, text: string];
  /** Collection whose items are made of such an object. */
  readonly payload?: string;
  /** Collections that a text may name; a document lists those of its class. */
  readonly collections?: 'sortable' | 'importable' | 'exportable';
  /** True if only administrators get this member. */
  readonly administrators?: true;
  /** Most bytes of a text in UTF-8. */
  readonly maxBytes?: number;
  /** Error of a value that breaks a rule: it is a part of a query in a body. Default: that of the body. */
  readonly refusal?: 'INVALID_QUERY';
  /** Field of a collection whose rules hold: a wrong value fails validation, as in a write. */
  readonly field?: readonly [collection: string, name: string];
}

/** Schemas by name. A name that ends in `?` may be absent. */
export type Members = { readonly [name: string]: ValueSchema };

interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
  readonly object: { readonly [name: string]: JsonValue };
  readonly array: readonly JsonValue[];
}

/** Type of the values of a schema: `ValueOf<{ type: 'string' }>` is `string`. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly members: infer Declared }
      ? ValuesOf<Declared>
      : Schema extends { readonly additionalProperties: infer Member extends ValueSchema }
        ? { readonly [name: string]: ValueOf<Member> }
        : Schema extends { readonly anyOf: readonly (infer Choice)[] }
          ? ValueOf<Choice>
          : Schema extends { readonly items: infer Item }
            ? readonly ValueOf<Item>[]
            : Schema extends { readonly type: readonly (infer Type extends JsonType)[] }
              ? Scalars[Type]
              : Schema extends { readonly type: infer Type extends JsonType }
                ? Scalars[Type]
                : JsonValue;

/** Type of the values of members by name. A member with a default is always there. */
export type ValuesOf<Declared> = {
  readonly [Name in keyof Declared as IsOptional<Name, Declared[Name]> extends true ? never : Plain<Name>]: ValueOf<
    Declared[Name]
  >;
} & {
  readonly [Name in keyof Declared as IsOptional<Name, Declared[Name]> extends true ? Plain<Name> : never]?: ValueOf<
    Declared[Name]
  >;
};

type Plain<Name> = Name extends `${infer Start}?` ? Start : Name;

type IsOptional<Name, Schema> = Name extends `${string}?`
  ? Schema extends { readonly default: unknown }
    ? false
    : true
  : false;

/** A member of an object. */
export interface SchemaMember {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: ValueSchema;
}

/** Lists members in the order of their declaration. */
export function listMembers(members: Members): readonly SchemaMember[] {
  return Object.entries(members).map(([name, schema]) => ({
    name: name.replace(/\?$/, ''),
    isRequired: !name.endsWith('?'),
    schema,
  }));
}
