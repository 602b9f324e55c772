import type { CompiledApi } from '../contract/index.ts';
import type { Transaction } from '../database/database.ts';
import { createPlanner } from '../query/planner.ts';
import { systemPlaceOf } from '../system/place.ts';
import type { Wardens } from '../write/warden.ts';
import { createCommentWarden } from './comment-warden.ts';
import { createFileWarden } from './file-warden.ts';
import { createFolderWarden } from './folder-warden.ts';
import { createMentions } from './mentions.ts';
import { createModelWarden, type ModelChanges } from './model-warden.ts';

/** Options of the hooks. */
export interface ResourceWardensOptions {
  readonly api: CompiledApi;
  /** Called with a transaction that has queued mail. */
  readonly mailed: (transaction: Transaction) => void;
  /** Called with a transaction that leaves contents without a file. */
  readonly left: (transaction: Transaction) => void;
  /** Handles writes to the collections that the API is compiled from. */
  readonly model: ModelChanges;
}

/** The hooks of comments, files, folders, roles and rules; none if the platform's own tables are not installed. */
export function createResourceWardens({ api, mailed, left, model }: ResourceWardensOptions): Wardens {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  // Limits of lists are for requests: this one asks for the items that it names.
  const planner = createPlanner(api);
  return new Map([
    ['platform_files', createFileWarden({ place: location, left })],
    ['platform_folders', createFolderWarden(location)],
    ['platform_permissions', createModelWarden(model, 'platform_permissions')],
    [
      'platform_comments',
      createCommentWarden({
        place: location,
        planner,
        hear: createMentions({ api, place: location, planner, mailed }),
      }),
    ],
  ]);
}
