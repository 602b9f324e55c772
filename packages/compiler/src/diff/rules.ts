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

const documents: Verdicts = { openapi: S, graphql: S, client: S };
const nothing: Verdicts = {};

const gone = 'A request that names it is refused.';
const more = 'Clients need not use it.';
const onlyDescription = 'Only what is told about it changes.';

/** Every rule by its id. */
export const rules = {
  'graphql-removed': { verdicts: everywhere(B), reason: 'There is no GraphQL API any more.' },
  'callers-passed-on': { verdicts: { rest: D, graphql: D }, reason: 'The database shows and takes other rows.' },
  'connections-added': { verdicts: { graphql: S }, reason: more },
  'connections-removed': { verdicts: { graphql: B }, reason: gone },
  'graphql-added': { verdicts: everywhere(S), reason: more },
  'accounts-removed': { verdicts: everywhere(B), reason: 'Users cannot sign in any more.' },
  'accounts-added': { verdicts: everywhere(S), reason: more },
  'document-removed': {
    verdicts: { graphql: B },
    reason: 'A server that answers only documents of the project refuses it.',
  },
  'document-changed': {
    verdicts: { graphql: B },
    reason: 'It has another hash: the old one does not find it any more.',
  },
  'document-added': { verdicts: { graphql: S }, reason: more },
  'route-removed': { verdicts: { rest: B, openapi: B, client: B }, reason: 'A request that calls it is refused.' },
  'route-added': { verdicts: { rest: S, openapi: S, client: S }, reason: more },
  'route-revoked': {
    verdicts: { rest: B, openapi: B, client: B },
    reason: 'Its code does not list the role any more; it answers as if it did not exist.',
  },
  'route-granted': { verdicts: { rest: S, openapi: S, client: S }, reason: 'The role calls what it could not call.' },
  'route-parameter-renamed': {
    verdicts: { rest: S, openapi: B, client: B },
    reason: 'Requests have the same form; generated functions name it.',
  },
  'route-input-narrowed': {
    verdicts: { rest: B, openapi: B, client: B },
    reason: 'Requests that were taken are refused.',
  },
  'route-input-widened': { verdicts: { rest: S, openapi: S, client: S }, reason: 'More is taken.' },
  'route-answer-changed': {
    verdicts: { rest: B, openapi: B, client: B },
    reason: 'Answers can lack, or hold, what clients do not expect.',
  },
  'route-answer-values': {
    verdicts: { rest: D, openapi: D, client: D },
    reason: 'Answers can hold a value that clients do not know.',
  },
  'route-answer-narrowed': { verdicts: { rest: S, openapi: S, client: S }, reason: 'Answers promise more.' },
  'function-removed': {
    verdicts: everywhere(B),
    reason: 'The role cannot call it any more; it answers as if it did not exist.',
  },
  'function-added': { verdicts: everywhere(S), reason: 'The role calls what it could not call.' },
  'function-argument-added': { verdicts: everywhere(S), reason: 'Calls need not give it, unless it is required.' },
  'function-argument-removed': { verdicts: everywhere(B), reason: 'Calls that give it are refused.' },
  'function-result-changed': { verdicts: everywhere(B), reason: 'Answers lack, or hold, what clients do not expect.' },
  'function-volatility-changed': {
    verdicts: everywhere(B),
    reason: 'Another method, or another kind of root field, calls it.',
  },
  'hook-added': { verdicts: { rest: D }, reason: 'It has a part in what is written.' },
  'hook-removed': { verdicts: { rest: D }, reason: 'It has no part in what is written any more.' },
  'role-removed': { verdicts: everywhere(B), reason: 'Its users have the rights of the public role.' },
  'role-added': { verdicts: everywhere(S), reason: 'No user has it yet.' },
  'role-made-administrator': { verdicts: everywhere(S), reason: 'It may do everything.' },
  'role-unmade-administrator': { verdicts: everywhere(B), reason: 'It may do only what rules allow.' },
  'role-app-access': { verdicts: nothing, reason: 'App access decides about collections of the platform.' },

  'collection-removed': { verdicts: everywhere(B), reason: gone },
  'collection-hidden': {
    verdicts: everywhere(B),
    reason: 'No rule of the role names it any more; it answers as if it did not exist.',
  },
  'collection-added': { verdicts: everywhere(S), reason: more },
  'collection-shown': { verdicts: everywhere(S), reason: 'The role sees a collection that it did not see.' },
  'collection-renamed': { verdicts: everywhere(B), reason: 'Paths, root fields and types have its name.' },
  'collection-note': { verdicts: documents, reason: onlyDescription },
  'collection-deprecated': { verdicts: documents, reason: onlyDescription },
  'collection-undeprecated': { verdicts: documents, reason: onlyDescription },
  'singleton-begun': {
    verdicts: everywhere(B),
    reason: 'It answers one object in place of a list, and has no paths by key.',
  },
  'singleton-ended': { verdicts: everywhere(B), reason: 'It answers a list in place of one object.' },
  'key-changed': { verdicts: everywhere(B), reason: 'Items are named by other values.' },
  'key-hidden': { verdicts: everywhere(B), reason: 'Items cannot be named any more.' },
  'operation-removed': { verdicts: everywhere(B), reason: gone },
  'operation-added': { verdicts: everywhere(S), reason: more },
  'default-sort-changed': { verdicts: { rest: D }, reason: 'Lists that ask for no order come in another one.' },
  'soft-delete-changed': {
    verdicts: everywhere(D),
    reason: 'DELETE removes items that were archived before, or the other way round.',
  },
  'accountability-changed': { verdicts: { rest: D }, reason: 'Another part of its history is kept.' },

  'field-removed': { verdicts: everywhere(B), reason: gone },
  'field-computed': {
    verdicts: { rest: B, openapi: S, graphql: S, client: B },
    reason: 'It is selected by its name alone, and no longer by `*`.',
  },
  'field-hidden': {
    verdicts: everywhere(B),
    reason: 'No rule of the role lists it any more; it answers as if it did not exist.',
  },
  'field-added': { verdicts: everywhere(S), reason: more },
  'field-shown': { verdicts: everywhere(S), reason: 'The role reads what it did not read.' },
  'field-renamed': { verdicts: everywhere(B), reason: 'Requests and answers have its name.' },
  'field-type-changed': { verdicts: everywhere(B), reason: 'Values are written, and asked for, in another form.' },
  'field-members-added': { verdicts: everywhere(S), reason: 'Values have more members in answers.' },
  'field-type-kept': {
    verdicts: { rest: D },
    reason: 'Values keep their form, but the database compares and limits them otherwise.',
  },
  'field-now-nullable': { verdicts: everywhere(B), reason: 'Answers can hold null where clients count on a value.' },
  'field-never-null': { verdicts: everywhere(S), reason: 'Answers promise more.' },
  'graphql-type-changed': {
    verdicts: { graphql: B },
    reason: 'Documents that write values, or name the type in variables, are refused.',
  },
  'values-added': { verdicts: everywhere(D), reason: 'Answers can hold a value that clients do not know.' },
  'values-removed': {
    verdicts: everywhere(B),
    reason: 'A request that writes or asks for the value is refused.',
  },
  'values-reordered': {
    verdicts: { rest: D, openapi: S, graphql: S, client: S },
    reason: 'An enum sorts by the order of its labels.',
  },
  'values-listed': { verdicts: { rest: B, openapi: B, client: B }, reason: 'Values outside the list are refused.' },
  'values-unlisted': { verdicts: { rest: D, openapi: D, client: D }, reason: 'Answers can hold any value.' },
  'length-reduced': { verdicts: { rest: B, openapi: B }, reason: 'Longer values are refused.' },
  'length-raised': {
    verdicts: { rest: D, openapi: D },
    reason: 'Answers can hold longer values than clients made room for.',
  },
  'precision-reduced': { verdicts: { rest: B, openapi: B }, reason: 'Numbers are rounded or refused.' },
  'precision-raised': {
    verdicts: { rest: D, openapi: D },
    reason: 'Answers can hold more digits than clients made room for.',
  },
  'default-changed': { verdicts: { rest: D }, reason: 'New items that leave it out get another value.' },
  'collation-changed': { verdicts: { rest: D }, reason: 'Texts sort and compare otherwise.' },
  'field-note': { verdicts: documents, reason: onlyDescription },
  'field-deprecated': { verdicts: documents, reason: onlyDescription },
  'field-undeprecated': { verdicts: documents, reason: onlyDescription },
  'field-leads': {
    verdicts: { rest: S, openapi: S, graphql: B, client: S },
    reason: 'The item can be read through the key; over GraphQL it stands in its place.',
  },
  'field-leads-no-more': { verdicts: everywhere(B), reason: 'The item cannot be read through the key any more.' },

  'input-removed': { verdicts: everywhere(B), reason: 'Payloads that have it are refused.' },
  'input-revoked': { verdicts: everywhere(B), reason: 'No rule of the role lets it write the field any more.' },
  'input-added': { verdicts: everywhere(S), reason: more },
  'input-granted': { verdicts: everywhere(S), reason: 'The role writes what it did not write.' },
  'input-now-required': { verdicts: everywhere(B), reason: 'Payloads that leave it out are refused.' },
  'input-now-optional': { verdicts: everywhere(S), reason: 'Less is asked of payloads.' },
  'input-not-null': { verdicts: { rest: B, openapi: B, client: B }, reason: 'Payloads that say null are refused.' },
  'input-nullable': { verdicts: { rest: S, openapi: S, client: S }, reason: 'More is taken.' },
  'input-widened': { verdicts: { rest: S, openapi: S, client: S }, reason: 'More is taken.' },
  'nested-write-removed': { verdicts: everywhere(B), reason: 'Payloads with related items are refused.' },
  'nested-write-added': { verdicts: everywhere(S), reason: more },
  'upsert-key-removed': {
    verdicts: { rest: B, openapi: B, client: B },
    reason: 'Items cannot be made or changed by it any more.',
  },
  'upsert-key-added': { verdicts: { rest: S, openapi: S, client: S }, reason: more },

  'relation-removed': { verdicts: everywhere(B), reason: gone },
  'relation-hidden': {
    verdicts: everywhere(B),
    reason: 'No rule of the role lists it, or what it leads to is hidden.',
  },
  'relation-added': { verdicts: everywhere(S), reason: more },
  'relation-shown': { verdicts: everywhere(S), reason: 'The role reads what it did not read.' },
  'relation-renamed': { verdicts: everywhere(B), reason: 'Requests and answers have its name.' },
  'relation-target-changed': { verdicts: everywhere(B), reason: 'It leads to items of another kind.' },
  'relation-kind-changed': {
    verdicts: everywhere(B),
    reason: 'A list stands where an item stood, or the other way round.',
  },
  'relation-now-nullable': { verdicts: everywhere(B), reason: 'Answers can hold null where clients count on an item.' },
  'relation-never-null': { verdicts: everywhere(S), reason: 'Answers promise more.' },
  'relation-now-single': {
    verdicts: { rest: D, openapi: S, graphql: S, client: S },
    reason: 'Its list has at most one item; a second one is refused.',
  },
  'relation-now-many': {
    verdicts: { rest: D, openapi: S, graphql: S, client: S },
    reason: 'Its list can have more items than one.',
  },
  'link-target-added': {
    verdicts: { rest: D, openapi: D, graphql: D, client: D },
    reason: 'It can lead to items that clients do not know.',
  },
  'link-target-removed': { verdicts: everywhere(B), reason: 'Requests that name the collection are refused.' },
  'relation-sort-changed': { verdicts: { rest: D }, reason: 'Its items come in another order.' },
  'relation-deprecated': { verdicts: documents, reason: onlyDescription },
  'relation-undeprecated': { verdicts: documents, reason: onlyDescription },
  'deselect-deletes': {
    verdicts: { rest: D, openapi: S, graphql: S, client: S },
    reason: 'Items that are removed from the relation are deleted.',
  },
  'deselect-keeps': {
    verdicts: { rest: D, openapi: B, graphql: B, client: B },
    reason: 'Items that are removed from the relation are kept.',
  },

  'unique-added': { verdicts: { rest: D }, reason: 'Writes that repeat a value are refused.' },
  'unique-removed': { verdicts: { rest: S }, reason: 'More is taken.' },
  'check-added': { verdicts: { rest: D }, reason: 'Writes that do not meet it are refused.' },
  'check-removed': { verdicts: { rest: S }, reason: 'More is taken.' },
  'check-changed': { verdicts: { rest: D }, reason: 'Other writes are refused.' },
  'foreign-key-added': { verdicts: { rest: D }, reason: 'Writes that name a missing item are refused.' },
  'foreign-key-removed': { verdicts: { rest: S }, reason: 'More is taken.' },
  'on-delete-changed': {
    verdicts: { rest: D },
    reason: 'Deleting an item does something else to those that refer to it.',
  },
  'row-security-on': { verdicts: { rest: D }, reason: 'The database hides rows from the server.' },
  'row-policies-changed': { verdicts: { rest: D }, reason: 'The database shows and takes other rows.' },
  'row-security-off': { verdicts: { rest: D }, reason: 'The database hides no rows any more.' },
  'index-removed': { verdicts: { rest: D }, reason: 'Requests that used it get slower.' },
  'index-added': { verdicts: { rest: S }, reason: 'Requests can only get faster.' },
  'table-kind-changed': { verdicts: { rest: D }, reason: 'Another kind of table keeps its rows.' },

  'action-revoked': { verdicts: nothing, reason: 'No rule of the role allows the action.' },
  'action-granted': { verdicts: nothing, reason: 'The role may do what it could not.' },
  'rows-narrowed': {
    verdicts: { rest: D, client: B },
    reason: 'Fewer rows are reached; others answer as if they did not exist.',
  },
  'rows-widened': { verdicts: { rest: D, client: S }, reason: 'More rows are reached.' },
  'rows-changed': { verdicts: { rest: D, client: D }, reason: 'Other rows are reached.' },
  'field-rows-narrowed': {
    verdicts: { rest: D },
    reason: 'The role has the fields on fewer rows; on others they read as null, and writes of them are refused.',
  },
  'field-rows-widened': { verdicts: { rest: D }, reason: 'The role has the fields on more rows.' },
  'field-rows-changed': { verdicts: { rest: D }, reason: 'The role has the fields on other rows.' },
  'validation-tightened': { verdicts: { rest: D }, reason: 'Writes that were taken are refused.' },
  'validation-loosened': { verdicts: { rest: S }, reason: 'More is taken.' },
  'validation-changed': { verdicts: { rest: D }, reason: 'Other writes are taken.' },
  'purge-granted': { verdicts: { rest: S, openapi: S }, reason: more },
  'purge-revoked': { verdicts: { rest: B, openapi: B }, reason: 'Requests that remove items for good are refused.' },
  'preset-added': { verdicts: { rest: D }, reason: 'The server sets a value that it did not set.' },
  'preset-removed': { verdicts: { rest: D }, reason: 'The server does not set the value any more.' },
  'preset-changed': { verdicts: { rest: D }, reason: 'The server sets another value.' },

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
