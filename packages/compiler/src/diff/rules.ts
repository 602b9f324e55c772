/** The rules of `platform diff`: meaning of each change on every surface. docs/reference/changes.md lists them. */

export interface Rule {
  /** Verdicts of a rule before a closer look; a surface that does not show the change is left out. */
  readonly verdicts: Verdicts;
  /** Reason, as a whole sentence. */
  readonly reason: string;
}

const B: Severity = 'breaking';
const D: Severity = 'dangerous';
const S: Severity = 'safe';

/** The same verdict on every surface. */
export function everywhere(severity: Severity): Verdicts {
  return { rest: severity, openapi: severity, graphql: severity, client: severity };
}

/** A rule with verdicts by surface, or with the same verdict on every surface. */
function rule(verdicts: Severity | Verdicts, reason: string): Rule {
  return { verdicts: typeof verdicts === 'string' ? everywhere(verdicts) : verdicts, reason };
}

const documents: Verdicts = { openapi: S, graphql: S, client: S };
const nothing: Verdicts = {};

const gone = 'A request that names it is refused.';
const more = 'Clients need not use it.';
const onlyDescription = 'Only what is told about it changes.';

/** Every rule by its id. */
export const rules = {
  'graphql-removed': rule(B, 'There is no GraphQL API any more.'),
  'callers-passed-on': rule({ rest: D, graphql: D }, 'The database shows and takes other rows.'),
  'connections-added': rule({ graphql: S }, more),
  'connections-removed': rule({ graphql: B }, gone),
  'graphql-added': rule(S, more),
  'accounts-removed': rule(B, 'Users cannot sign in any more.'),
  'accounts-added': rule(S, more),
  'document-removed': rule({ graphql: B }, 'A server that answers only documents of the project refuses it.'),
  'document-changed': rule({ graphql: B }, 'It has another hash: the old one does not find it any more.'),
  'document-added': rule({ graphql: S }, more),
  'route-removed': rule({ rest: B, openapi: B, client: B }, 'A request that calls it is refused.'),
  'route-added': rule({ rest: S, openapi: S, client: S }, more),
  'route-revoked': rule(
    { rest: B, openapi: B, client: B },
    'Its code does not list the role any more; it answers as if it did not exist.',
  ),
  'route-granted': rule({ rest: S, openapi: S, client: S }, 'The role calls what it could not call.'),
  'route-parameter-renamed': rule(
    { rest: S, openapi: B, client: B },
    'Requests have the same form; generated functions name it.',
  ),
  'route-input-narrowed': rule({ rest: B, openapi: B, client: B }, 'Requests that were taken are refused.'),
  'route-input-widened': rule({ rest: S, openapi: S, client: S }, 'More is taken.'),
  'route-answer-changed': rule(
    { rest: B, openapi: B, client: B },
    'Answers can lack, or hold, what clients do not expect.',
  ),
  'route-answer-values': rule({ rest: D, openapi: D, client: D }, 'Answers can hold a value that clients do not know.'),
  'route-answer-narrowed': rule({ rest: S, openapi: S, client: S }, 'Answers promise more.'),
  'function-removed': rule(B, 'The role cannot call it any more; it answers as if it did not exist.'),
  'function-added': rule(S, 'The role calls what it could not call.'),
  'function-argument-added': rule(S, 'Calls need not give it, unless it is required.'),
  'function-argument-removed': rule(B, 'Calls that give it are refused.'),
  'function-result-changed': rule(B, 'Answers lack, or hold, what clients do not expect.'),
  'function-volatility-changed': rule(B, 'Another method, or another kind of root field, calls it.'),
  'hook-added': rule({ rest: D }, 'It has a part in what is written.'),
  'hook-removed': rule({ rest: D }, 'It has no part in what is written any more.'),
  'role-removed': rule(B, 'Its users have the rights of the public role.'),
  'role-added': rule(S, 'No user has it yet.'),
  'role-made-administrator': rule(S, 'It may do everything.'),
  'role-unmade-administrator': rule(B, 'It may do only what rules allow.'),
  'role-app-access': rule(nothing, 'App access decides about collections of the platform.'),

  'collection-removed': rule(B, gone),
  'collection-hidden': rule(B, 'No rule of the role names it any more; it answers as if it did not exist.'),
  'collection-added': rule(S, more),
  'collection-shown': rule(S, 'The role sees a collection that it did not see.'),
  'collection-renamed': rule(B, 'Paths, root fields and types have its name.'),
  'collection-source-changed': rule({ rest: D, ...documents }, 'Items of another table have the name.'),
  'collection-note': rule(documents, onlyDescription),
  'collection-deprecated': rule(documents, onlyDescription),
  'collection-undeprecated': rule(documents, onlyDescription),
  'singleton-begun': rule(B, 'It answers one object in place of a list, and has no paths by key.'),
  'singleton-ended': rule(B, 'It answers a list in place of one object.'),
  'key-changed': rule(B, 'Items are named by other values.'),
  'key-hidden': rule(B, 'Items cannot be named any more.'),
  'operation-removed': rule(B, gone),
  'operation-added': rule(S, more),
  'default-sort-changed': rule({ rest: D }, 'Lists that ask for no order come in another one.'),
  'search-changed': rule({ rest: D }, 'The parameter `search` finds other items.'),
  'cache-changed': rule({ rest: D }, 'Answers without a token can be older, or ask more of the server.'),
  'soft-delete-changed': rule(D, 'DELETE removes items that were archived before, or the other way round.'),
  'archive-changed': rule({ rest: D }, 'Apps that follow the advice archive items in another way.'),
  'accountability-changed': rule({ rest: D }, 'Another part of its history is kept.'),

  'field-removed': rule(B, gone),
  'field-computed': rule(
    { rest: B, openapi: S, graphql: S, client: B },
    'It is selected by its name alone, and no longer by `*`.',
  ),
  'field-hidden': rule(B, 'No rule of the role lists it any more; it answers as if it did not exist.'),
  'field-added': rule(S, more),
  'field-shown': rule(S, 'The role reads what it did not read.'),
  'field-renamed': rule(B, 'Requests and answers have its name.'),
  'field-source-changed': rule({ rest: D, ...documents }, 'Values of another column have the name.'),
  'field-expression-changed': rule({ rest: D, ...documents }, 'The database makes other values.'),
  'field-type-changed': rule(B, 'Values are written, and asked for, in another form.'),
  'field-members-added': rule(S, 'Values have more members in answers.'),
  'field-type-kept': rule({ rest: D }, 'Values keep their form, but the database compares and limits them otherwise.'),
  'field-now-nullable': rule(B, 'Answers can hold null where clients count on a value.'),
  'field-never-null': rule(S, 'Answers promise more.'),
  'graphql-type-changed': rule(
    { graphql: B },
    'Documents that write values, or name the type in variables, are refused.',
  ),
  'values-added': rule(D, 'Answers can hold a value that clients do not know.'),
  'values-removed': rule(B, 'A request that writes or asks for the value is refused.'),
  'values-reordered': rule({ rest: D, openapi: S, graphql: S, client: S }, 'An enum sorts by the order of its labels.'),
  'values-listed': rule({ rest: B, openapi: B, client: B }, 'Values outside the list are refused.'),
  'values-unlisted': rule({ rest: D, openapi: D, client: D }, 'Answers can hold any value.'),
  'length-reduced': rule({ rest: B, openapi: B }, 'Longer values are refused.'),
  'length-raised': rule({ rest: D, openapi: D }, 'Answers can hold longer values than clients made room for.'),
  'precision-reduced': rule({ rest: B, openapi: B }, 'Numbers are rounded or refused.'),
  'precision-raised': rule({ rest: D, openapi: D }, 'Answers can hold more digits than clients made room for.'),
  'default-changed': rule({ rest: D }, 'New items that leave it out get another value.'),
  'collation-changed': rule({ rest: D }, 'Texts sort and compare otherwise.'),
  'field-note': rule(documents, onlyDescription),
  'field-deprecated': rule(documents, onlyDescription),
  'field-undeprecated': rule(documents, onlyDescription),
  'field-leads': rule(
    { rest: S, openapi: S, graphql: B, client: S },
    'The item can be read through the key; over GraphQL it stands in its place.',
  ),
  'field-leads-no-more': rule(B, 'The item cannot be read through the key any more.'),

  'input-removed': rule(B, 'Payloads that have it are refused.'),
  'input-revoked': rule(B, 'No rule of the role lets it write the field any more.'),
  'input-added': rule(S, more),
  'input-granted': rule(S, 'The role writes what it did not write.'),
  'input-now-required': rule(B, 'Payloads that leave it out are refused.'),
  'input-now-optional': rule(S, 'Less is asked of payloads.'),
  'input-not-null': rule({ rest: B, openapi: B, client: B }, 'Payloads that say null are refused.'),
  'input-nullable': rule({ rest: S, openapi: S, client: S }, 'More is taken.'),
  'input-widened': rule({ rest: S, openapi: S, client: S }, 'More is taken.'),
  'nested-write-removed': rule(B, 'Payloads with related items are refused.'),
  'nested-write-added': rule(S, more),
  'upsert-key-removed': rule({ rest: B, openapi: B, client: B }, 'Items cannot be made or changed by it any more.'),
  'upsert-key-reordered': rule({ openapi: S, client: B }, 'The types list the names of a key in its order.'),
  'upsert-key-added': rule({ rest: S, openapi: S, client: S }, more),

  'relation-removed': rule(B, gone),
  'relation-hidden': rule(B, 'No rule of the role lists it, or what it leads to is hidden.'),
  'relation-added': rule(S, more),
  'relation-shown': rule(S, 'The role reads what it did not read.'),
  'relation-renamed': rule(B, 'Requests and answers have its name.'),
  'relation-target-changed': rule(B, 'It leads to items of another kind.'),
  'relation-source-changed': rule({ rest: D, ...documents }, 'It leads to other items of the same kind.'),
  'relation-kind-changed': rule(B, 'A list stands where an item stood, or the other way round.'),
  'relation-now-nullable': rule(B, 'Answers can hold null where clients count on an item.'),
  'relation-never-null': rule(S, 'Answers promise more.'),
  'relation-now-single': rule(
    { rest: D, openapi: S, graphql: S, client: S },
    'Its list has at most one item; a second one is refused.',
  ),
  'relation-now-many': rule({ rest: D, openapi: S, graphql: S, client: S }, 'Its list can have more items than one.'),
  'link-target-added': rule(
    { rest: D, openapi: D, graphql: D, client: D },
    'It can lead to items that clients do not know.',
  ),
  'link-target-removed': rule(B, 'Requests that name the collection are refused.'),
  'relation-sort-changed': rule({ rest: D }, 'Its items come in another order.'),
  'relation-deprecated': rule(documents, onlyDescription),
  'relation-undeprecated': rule(documents, onlyDescription),
  'deselect-deletes': rule(
    { rest: D, openapi: S, graphql: S, client: S },
    'Items that are removed from the relation are deleted.',
  ),
  'deselect-keeps': rule(
    { rest: D, openapi: B, graphql: B, client: B },
    'Items that are removed from the relation are kept.',
  ),

  'unique-added': rule({ rest: D }, 'Writes that repeat a value are refused.'),
  'unique-removed': rule({ rest: S }, 'More is taken.'),
  'check-added': rule({ rest: D }, 'Writes that do not meet it are refused.'),
  'check-removed': rule({ rest: S }, 'More is taken.'),
  'check-changed': rule({ rest: D }, 'Other writes are refused.'),
  'foreign-key-added': rule({ rest: D }, 'Writes that name a missing item are refused.'),
  'foreign-key-removed': rule({ rest: S }, 'More is taken.'),
  'on-delete-changed': rule({ rest: D }, 'Deleting an item does something else to those that refer to it.'),
  'on-update-changed': rule({ rest: D }, 'Changing the key of an item does something else to those that refer to it.'),
  'row-security-on': rule({ rest: D }, 'The database hides rows from the server.'),
  'row-policies-changed': rule({ rest: D }, 'The database shows and takes other rows.'),
  'row-security-off': rule({ rest: D }, 'The database hides no rows any more.'),
  'index-removed': rule({ rest: D }, 'Requests that used it get slower.'),
  'index-added': rule({ rest: S }, 'Requests can only get faster.'),
  'table-kind-changed': rule({ rest: D }, 'Another kind of table keeps its rows.'),

  'action-revoked': rule(nothing, 'No rule of the role allows the action.'),
  'action-granted': rule(nothing, 'The role may do what it could not.'),
  'rows-narrowed': rule({ rest: D, client: B }, 'Fewer rows are reached; others answer as if they did not exist.'),
  'rows-widened': rule({ rest: D, client: S }, 'More rows are reached.'),
  'rows-changed': rule({ rest: D, client: D }, 'Other rows are reached.'),
  'field-rows-narrowed': rule(
    { rest: D },
    'The role has the fields on fewer rows; on others they read as null, and writes of them are refused.',
  ),
  'field-rows-widened': rule({ rest: D }, 'The role has the fields on more rows.'),
  'field-rows-changed': rule({ rest: D }, 'The role has the fields on other rows.'),
  'validation-tightened': rule({ rest: D }, 'Writes that were taken are refused.'),
  'validation-loosened': rule({ rest: S }, 'More is taken.'),
  'validation-changed': rule({ rest: D }, 'Other writes are taken.'),
  'purge-granted': rule({ rest: S, openapi: S }, more),
  'purge-revoked': rule({ rest: B, openapi: B }, 'Requests that remove items for good are refused.'),
  'preset-added': rule({ rest: D }, 'The server sets a value that it did not set.'),
  'preset-removed': rule({ rest: D }, 'The server does not set the value any more.'),
  'preset-changed': rule({ rest: D }, 'The server sets another value.'),

  unclassified: {
    verdicts: everywhere(D),
    reason: 'Generated files differ, and no rule says why: look at the files.',
  },
} as const satisfies Record<string, Rule>;

/** The id of a rule. */
export type RuleId = keyof typeof rules;

export const surfaces = ['rest', 'openapi', 'graphql', 'client'] as const;

/** One of `surfaces`: requests and answers, the OpenAPI document, the GraphQL schema, the types of the generated client. */
export type ApiSurface = (typeof surfaces)[number];

/** `breaking`: something fails. `dangerous`: it goes on, but does something else. `safe`: no action is needed. */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** Severity of a change by surface; a surface that does not show it is absent. */
export type Verdicts = { readonly [surface in ApiSurface]?: Severity };

/** The most severe of several; safe when there is none. */
export function maxSeverity(severities: Iterable<Severity>): Severity {
  const all = new Set(severities);
  return all.has('breaking') ? 'breaking' : all.has('dangerous') ? 'dangerous' : 'safe';
}

/** Change of a role's permissions; `unclear` where neither set of rows is known to contain the other. */
export type Direction = 'widening' | 'narrowing' | 'unclear';

/** One change, for all the roles that it means the same to. */
export interface Change {
  readonly rule: RuleId;
  /** API names: `articles`, `articles.title`, `role editor`, `api`. */
  readonly subject: string;
  /** Sorted. */
  readonly roles: readonly string[];
  readonly verdicts: Verdicts;
  /** Set where the rights of the roles change; such a change is at least dangerous. */
  readonly rights?: Direction;
  /** The most severe of all of it. */
  readonly severity: Severity;
  /** The change as a whole sentence. */
  readonly message: string;
  /** Requests and GraphQL root fields that it concerns: `GET /items/articles`, `query articles`. */
  readonly operations: readonly string[];
}
