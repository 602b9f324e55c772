import type { Transaction } from '../database/database.ts';
import type { CompiledApi } from '../language/index.ts';
import type { ModelChanges } from '../model/model-changes.ts';
import { createPlanner } from '../query/planner.ts';
import { systemPlaceOf } from '../system/place.ts';
import { createModelHook } from '../users/model-hook.ts';
import type { SystemHooks } from '../write/execute/running.ts';
import { createCommentHook } from './comment-hook.ts';
import { createFileHook } from './file-hook.ts';
import { createFolderHook } from './folder-hook.ts';
import { createMentions } from './mentions.ts';

/** Options of the hooks. */
export interface ResourceHooksOptions {
  readonly api: CompiledApi;
  /** Called with a transaction that has queued mail. */
  readonly mailed: (transaction: Transaction) => void;
  /** Called with a transaction that leaves contents without a file. */
  readonly left: (transaction: Transaction) => void;
  /** Handles writes to the collections that the API is compiled from. */
  readonly model: ModelChanges;
}

/** The hooks of comments, files, folders, roles and rules; none if the platform's own tables are not installed. */
export function createResourceHooks({ api, mailed, left, model }: ResourceHooksOptions): SystemHooks {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  // Limits of lists are for requests: this one asks for the items that it names.
  const planner = createPlanner(api);
  return new Map([
    ['platform_files', createFileHook({ place: location, left })],
    ['platform_folders', createFolderHook(location)],
    ['platform_permissions', createModelHook(model, 'platform_permissions')],
    [
      'platform_comments',
      createCommentHook({
        place: location,
        planner,
        hear: createMentions({ api, place: location, planner, mailed }),
      }),
    ],
  ]);
}
