/** Changes of the model by a server that runs, and how it watches over the tables that its API is compiled of. */
import { ownTables, serverOf } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import type { ChangeModel, ModelChangerOptions, WatchedTables } from '../model/model-changer.ts';
import type { ModelRows } from '../model/recompiler.ts';

/** Makes the changer. */
export function createModelChanger(options: ModelChangerOptions): ChangeModel {
  return async (...requested) => {
    const { place: location, model } = options.tables();
    if (!model) throw new PlatformError('UNPROCESSABLE_ENTITY', uninstalled);
    const { answer: response, made } = await serverOf(location.dialect).changeModel(options, requested);
    if (made !== null) await options.serve(made);
    return response;
  };
}

const uninstalled =
  'The platform’s own tables cannot be read, and changes of the model are written there. Run `platform migrate`.';

/** Reads everything of which the API is compiled. */
export async function readModelRows(
  { place: location, permissions, model, ledger }: WatchedTables,
  run: (text: string) => Promise<ModelRows['model']>,
): Promise<ModelRows> {
  const statements = ownTables(location).statements.model;
  return {
    roles: permissions ? await run(statements.roles) : [],
    rules: permissions ? await run(statements.rules) : [],
    model: model ? await run(statements.rows(ledger)) : [],
  };
}
