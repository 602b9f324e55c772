/** Activity and the comments in it. Source: API specification, sections 10.3 and 15. */
import type { Key, RequestOptions } from './call.ts';
import { createItemHandler, type ItemHandler } from './items.ts';
import type { Requester } from './requester.ts';

/** A comment on an item. */
export interface CommentData {
  readonly collection: string;
  readonly item: Key;
  readonly comment: string;
}

/** Comments as rows of activity. */
export interface ActivityCommentsHandler<Activity> {
  /**
   * Comments on an item.
   * @example await client.activity.comments.create({ collection: 'articles', item: 1, comment: 'Well done.' });
   */
  create(data: CommentData, options?: RequestOptions): Promise<Activity>;
  /**
   * Takes the key of the activity.
   * @example await client.activity.comments.update(7, 'Very well done.');
   */
  update(id: Key, comment: string, options?: RequestOptions): Promise<Activity>;
  /**
   * Deletes a comment.
   * @example await client.activity.comments.delete(7);
   */
  delete(id: Key, options?: RequestOptions): Promise<void>;
}

/** Activity. */
export interface ActivityHandler<Activity> extends ItemHandler<Activity> {
  readonly comments: ActivityCommentsHandler<Activity>;
}

/** Makes the handler of activity. */
export function createActivityHandler<Activity>(requester: Requester): ActivityHandler<Activity> {
  const { data, nothing } = requester;
  const path = ['activity', 'comment'];
  return {
    ...createItemHandler<Activity>(requester, ['activity']),
    comments: {
      create: (body, options) => data({ method: 'POST', path, body, options }),
      update: (id, comment, options) => data({ method: 'PATCH', path: [...path, id], body: { comment }, options }),
      delete: (id, options) => nothing({ method: 'DELETE', path: [...path, id], options }),
    },
  };
}
