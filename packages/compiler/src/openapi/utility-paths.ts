/** The paths under `/utils`, and those of comments under activity. Source: API specification, sections 10.3 and 13. */
import type { AccessClass } from '@tablewright/runtime/language';
import type { FailureName } from '@tablewright/runtime/operations';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import { askedOfExplain, explained } from './explained.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import { failuresByStatus } from './responses.ts';

/** Tag of the operations under `/utils`. No collection has it: theirs have a slash, or the name of a resource. */
export const utilityTag = 'utils';

const written = ['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const;
const withBody = [...written, 'InvalidBody', 'UnsupportedMediaType'] as const;

/** The path of `/utils/explain`, for administrators; null: for everything. */
export function explainPaths(access: AccessClass | null): readonly (readonly [string, JsonObject])[] {
  return access === null || access.admin ? [['/utils/explain', { post: explain() }]] : [];
}

function explain(): JsonObject {
  const note =
    'Explains how a request by a role is answered, and why it is refused. For development; not found unless EXPLAIN is set.';
  return {
    ...head('utilsExplain', 'Explain a request', note),
    requestBody: { required: true, content: { 'application/json': { schema: askedOfExplain } } },
    responses: answer('The explanation.', explained, [...withBody, 'RouteNotFound']),
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
