/** All operations of a server with their implementations. */
import type { Accounts } from '../../auth/accounts.ts';
import { createInvite } from '../../auth/mailed-tokens/invites.ts';
import type { Database } from '../../database/database.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import { type Environment, requestLimits } from '../../environment.ts';
import type { FileServices } from '../../files/services.ts';
import { resources } from '../../language/operations/index.ts';
import type { ChangeModel } from '../../model/model-changer.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { Writer } from '../../write/writer.ts';
import { atProvider, authOperations, passwordOperations, ssoOperations } from './auth.ts';
import { type Bind, type BoundOperation, createBind } from './bind.ts';
import { type CommentOptions, commentOperations } from './comments.ts';
import { explainOperations } from './explain.ts';
import { fileOperations, transferOperations } from './files.ts';
import { modelChangeOperations, modelOperations } from './model.ts';
import { type ServerOptions, serverOperations } from './server.ts';
import { ownUserOperations, userOperations } from './users.ts';
import { type UtilOptions, utilOperations } from './utils.ts';

interface OperationsOptions extends Omit<UtilOptions, 'maxItems'>, ServerOptions, CommentOptions {
  readonly database: Database;
  readonly environment: Environment;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  readonly writer: Writer;
  /** Makes changes of the model; rejects where it stays as it was compiled. */
  readonly changeModel: ChangeModel;
  /** Null where there is no table of files. */
  readonly files: FileServices | null;
  /** Null where the platform's own tables are not installed. */
  readonly accounts: Accounts<unknown> | null;
  readonly system: SystemPlace | null;
}

export function bindOperations(options: OperationsOptions): readonly BoundOperation[] {
  const { api, environment, accounts, system, files, changeModel } = options;
  const { systemNameAliasPrefix: aliasPrefix } = environment;
  const explaining = { ...options, limits: requestLimits(environment) };
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const bind = createBind(({ accessClass }) => administrators.has(accessClass), environment.auth.loginStallTime);
  return [
    ...bind(resources.server, serverOperations(options)),
    ...bind(resources.utils, utilOperations({ ...options, maxItems: environment.maxBatchMutation })),
    ...bind(resources.model, modelOperations(api, aliasPrefix)),
    ...bind(resources.modelChanges, modelChangeOperations(changeModel, options.writer, aliasPrefix)),
    ...(system === null ? [] : bind(resources.comments, commentOperations(options, system))),
    ...(environment.explain ? bind(resources.explain, explainOperations(explaining)) : []),
    ...(files === null ? [] : bindFiles(bind, options, files)),
    ...(accounts === null || system === null ? [] : bindAccounts(bind, options, accounts, system)),
  ];
}

function bindFiles(bind: Bind, options: OperationsOptions, files: FileServices): readonly BoundOperation[] {
  const { environment } = options;
  const { files: setting, maxPayloadSize: fieldSize, maxBatchMutation: maxItems } = environment;
  const folder = files.storages.first.storage.staging;
  const transferring = { ...options, uploads: files.uploads, folder, fieldSize, maxItems };
  return [
    ...bind(resources.files, fileOperations(files, setting, options.writer)),
    ...bind(resources.transfers, transferOperations({ ...transferring, maxBytes: setting.maxUploadSize })),
  ];
}

function bindAccounts(
  bind: Bind,
  options: OperationsOptions,
  accounts: Accounts<unknown>,
  system: SystemPlace,
): readonly BoundOperation[] {
  const { database, environment } = options;
  const invite = createInvite({ ...options, place: system, environment: environment.mail.invite });
  return [
    ...bind(resources.ownUser, ownUserOperations(database, system)),
    ...bind(resources.auth, authOperations(accounts, environment)),
    ...[...accounts.singleSignOn].flatMap(([name, way]) =>
      bind(resources.sso, ssoOperations(way, environment)).map((callable) => atProvider(callable, name)),
    ),
    ...bind(resources.passwords, passwordOperations(accounts, environment)),
    ...bind(resources.users, userOperations(accounts, invite, options.writer, environment)),
  ];
}
