/** Comments on items: the row of activity that records one stands for it. Source: API specification, section 10.3. */
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = [
  ...(['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const),
  'InvalidWrite',
] as const;
const withBody = [...failures, 'UnsupportedMediaType'] as const;

const collection = 'platform_comments';
const text = { type: 'string' } as const satisfies ValueSchema;
const key = {
  anyOf: [{ type: ['string', 'number'] }, { type: 'object', additionalProperties: true }, { type: 'array', items: {} }],
  description: 'The key of the item: a value, an object of its fields, or a text in the form of a path.',
  graphql: 'ID!',
} as const satisfies ValueSchema;
const id = { type: 'integer', graphql: 'ID!' } as const satisfies ValueSchema;
const recorded = {
  description: 'The activity.',
  item: 'platform_activity',
  empty: 'It is written, and nothing of it may be read.',
} as const;

/** Comments. */
export const commentResource = {
  tag: 'activity',
  installed: true,
  parametersOfPaths: true,
  operations: {
    activityCommentCreate: {
      route: 'POST /activity/comment',
      summary: 'Comment on an item',
      description: 'Answers the activity that records the comment.',
      access: { action: 'create', collection },
      keyed: true,
      body: { members: { collection: text, item: key, comment: text } },
      output: recorded,
      failures: [...withBody, 'Unprocessable'],
      graphql: { mutation: 'create_comment' },
    },
    activityCommentUpdate: {
      route: 'PATCH /activity/comment/{id}',
      summary: 'Change a comment',
      description: 'Answers the activity that records the comment.',
      access: { action: 'update', collection },
      input: { id },
      body: { members: { comment: text } },
      output: { ...recorded, byKey: true },
      failures: withBody,
      graphql: { mutation: 'update_comment' },
    },
    activityCommentDelete: {
      route: 'DELETE /activity/comment/{id}',
      summary: 'Delete a comment',
      description: 'With the activity that records it.',
      access: { action: 'delete', collection },
      input: { id },
      output: { description: 'It is deleted.' },
      failures,
      graphql: { mutation: 'delete_comment', type: 'delete_one', value: ['id'] },
    },
  },
} as const satisfies Resource;
