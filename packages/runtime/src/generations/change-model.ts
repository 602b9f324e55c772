/**
 * Changes the model of a server that runs: the tables, their descriptions and the migration that repeats it are written
 * together. They stay when the result compiles. How is a matter of the dialect
 * (`dialects/<family>/ddl/change-model.ts`). Source: API specification, section 12.4.
 */

import { serverOf } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import type { ChangeModel, ModelChangerOptions } from '../model/model-changer.ts';

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
