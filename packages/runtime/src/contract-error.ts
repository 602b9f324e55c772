import { type CompiledApi, contract } from './language/index.ts';

/** Thrown for generated files that were made for another contract than that of this runtime. */
export class ContractError extends Error {
  override readonly name = 'ContractError';

  constructor(made: number, folder = 'generated') {
    super(`${folder}/ was made for contract ${made}, this is ${contract}: run platform generate.`);
  }
}

/** Throws if the runtime cannot serve the generated API. `folder` is that of the generated files, for the message. */
export function refuseContract(made: CompiledApi['contract'], folder?: string): void {
  if (made !== contract) throw new ContractError(made, folder);
}
