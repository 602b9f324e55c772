/** The paths under `/utils`, and those of comments under activity. Source: API specification, sections 10.3 and 13. */
import type { AccessClass } from '@tablewright/runtime/language';
import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import { askedOfExplain, explained } from './explained.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import { failuresByStatus } from './responses.ts';

/** Tag of the operations under `/utils`. No collection has it: theirs have a slash, or the name of a resource. */
export const utilityTag = 'utils';

const written = ['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const;
const withBody = [...written, 'InvalidBody', 'UnsupportedMediaType'] as const;

/** The paths under `/utils` with their operations, as far as an access class may use them; null: all. */
export function utilityPaths(
  api: Api,
  access: AccessClass | null,
  view: RoleView,
): readonly (readonly [string, JsonObject])[] {
  const sorted = sortableNames(api, view);
  const revisions = view.collections.find(({ name }) => name === 'platform_revisions');
  return [
    ['/utils/random/string', { get: randomString() }],
    ['/utils/hash/generate', { post: generateHash() }],
    ['/utils/hash/verify', { post: verifyHash() }],
    ...(sorted.length > 0 ? [['/utils/sort/{collection}', { post: sort(sorted) }] as const] : []),
    ...(revisions?.readable ? [['/utils/revert/{revision}', { post: revert() }] as const] : []),
    ...(access === null || access.admin
      ? ([
          ['/utils/cache/clear', { post: clearCache() }],
          ['/utils/explain', { post: explain() }],
        ] as const)
      : []),
  ];
}

/** Collections whose sort field can be written. */
function sortableNames(api: Api, { collections }: RoleView): readonly string[] {
  const sorts = new Map(api.collections.map(({ descriptor }) => [descriptor.name, descriptor.sort]));
  return collections
    .filter(({ name, writes }) => {
      const sort = sorts.get(name) ?? null;
      return sort !== null && writes?.update?.fields.some((field) => field.name === sort);
    })
    .map(({ name }) => name);
}

function randomString(): JsonObject {
  const schema = { type: 'integer', minimum: 1, maximum: 500, default: 32 };
  return {
    ...head('utilsRandomString', 'Make a random text', 'Letters, digits, `-` and `_`, 6 bits of randomness each.'),
    parameters: [{ name: 'length', in: 'query', schema }],
    responses: answer('The text.', { type: 'string' }, [...commonFailures, 'InvalidToken']),
  };
}

function generateHash(): JsonObject {
  return {
    ...head('utilsHashGenerate', 'Hash a text', 'By Argon2id. At most 1,024 bytes, for who is signed in.'),
    requestBody: body({ string: { type: 'string' } }),
    responses: answer('The hash.', { type: 'string' }, withBody),
  };
}

function verifyHash(): JsonObject {
  return {
    ...head('utilsHashVerify', 'Compare a text with a hash', 'At most 1,024 bytes, for who is signed in.'),
    requestBody: body({ string: { type: 'string' }, hash: { type: 'string', maxLength: 512 } }),
    responses: answer('Whether it is the text that was hashed.', { type: 'boolean' }, withBody),
  };
}

function sort(names: readonly string[]): JsonObject {
  const key = { type: ['string', 'integer'], description: 'A key, in the form of a path.' };
  return {
    ...head('utilsSort', 'Move an item', 'Gives it the position of another one and shifts those between them.'),
    parameters: [{ name: 'collection', in: 'path', required: true, schema: { type: 'string', enum: [...names] } }],
    requestBody: body({ item: key, to: key }),
    responses: done('200', 'It is moved.', [...written, 'InvalidWrite', 'UnsupportedMediaType']),
  };
}

function revert(): JsonObject {
  const key = { type: 'integer', description: 'Key of the revision.' };
  return {
    ...head('utilsRevert', 'Revert an item', 'Writes back what a revision holds, as an update by the caller.'),
    parameters: [{ name: 'revision', in: 'path', required: true, schema: key }],
    responses: done('204', 'It is as it was then.', [...written, 'InvalidWrite']),
  };
}

function clearCache(): JsonObject {
  return {
    ...head('utilsCacheClear', 'Forget what is remembered', 'Accounts are looked up again.'),
    responses: done('200', 'Nothing is remembered.', written),
  };
}

function explain(): JsonObject {
  const note =
    'What becomes of a request by a role, and why it is refused. For development; not found unless EXPLAIN is set.';
  return {
    ...head('utilsExplain', 'Explain a request', note),
    requestBody: { required: true, content: { 'application/json': { schema: askedOfExplain } } },
    responses: answer('What becomes of it.', explained, [...withBody, 'RouteNotFound']),
  };
}

/** The paths of comments under activity, as far as the class may write them. */
export function commentPaths({ collections }: RoleView): readonly (readonly [string, JsonObject])[] {
  const comments = collections.find(({ name }) => name === 'platform_comments');
  const activity = collections.find(({ name }) => name === 'platform_activity');
  if (comments?.writes == null) return [];
  const { create, update, delete: remove } = comments.writes;
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const single = objectOf([
    ...(update === null ? [] : [['patch', changeComment(activity)] as const]),
    ...(remove ? [['delete', removeComment()] as const] : []),
  ]);
  return [
    ...(create === null ? [] : [['/activity/comment', { post: makeComment(activity) }] as const]),
    ...(Object.keys(single).length > 0 ? [['/activity/comment/{id}', { parameters: [id], ...single }] as const] : []),
  ];
}

const failed = [...written, 'InvalidWrite', 'UnsupportedMediaType'] as const;
const texts = { collection: { type: 'string' }, item: { type: 'string' }, comment: { type: 'string' } } as const;

function makeComment(activity: RoleCollection | undefined): JsonObject {
  return {
    ...headOf('activityCommentCreate', 'Comment on an item', 'Answers the activity that records the comment.'),
    requestBody: body(texts),
    responses: recorded(activity),
  };
}

function changeComment(activity: RoleCollection | undefined): JsonObject {
  return {
    ...headOf('activityCommentUpdate', 'Change a comment', 'Answers the activity that records the comment.'),
    requestBody: body({ comment: texts.comment }),
    responses: recorded(activity),
  };
}

function removeComment(): JsonObject {
  return {
    ...headOf('activityCommentDelete', 'Delete a comment', 'With the activity that records it.'),
    responses: done('204', 'It is deleted.', [...written, 'InvalidWrite']),
  };
}

function recorded(activity: RoleCollection | undefined): JsonObject {
  const unread = ['204', { description: 'It is written, and nothing of it may be read.' }] as const;
  if (activity?.readable !== true) return objectOf([unread, ...failuresByStatus(failed)]);
  const { '200': answered = {}, ...failures } = answer(
    'The activity.',
    reference('schemas', activity.names.item),
    failed,
  );
  return objectOf([['200', answered], unread, ...Object.entries(failures)]);
}

function head(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: [utilityTag], summary, description };
}

function headOf(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: ['activity'], summary, description };
}

/** A body in which every property must be there. */
function body(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return { required: true, content: { 'application/json': { schema } } };
}

function done(status: '200' | '204', description: string, failures: readonly FailureName[]): JsonObject {
  return objectOf([[status, { description }], ...failuresByStatus(failures)]);
}

function answer(description: string, data: JsonObject, failures: readonly FailureName[]): JsonObject {
  const schema = { type: 'object', properties: { data }, required: ['data'] };
  return objectOf([
    ['200', { description, content: { 'application/json': { schema } } }],
    ...failuresByStatus(failures),
  ]);
}
