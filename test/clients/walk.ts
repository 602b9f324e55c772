/** Runs the commands of a client whose exports are functions, and remembers which of them were run. */

/** Runs one command by its name; the answer is what the client makes of it. */
export type RunCommand = (name: string, ...args: readonly unknown[]) => Promise<unknown>;

/** Runs commands of a module and notes them in `walked`; `request` sends what a command makes. */
export function walking(
  commands: Readonly<Record<string, unknown>>,
  walked: Set<string>,
  request: (made: unknown) => Promise<unknown>,
): RunCommand {
  return async function run(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const command = commands[name];
    if (typeof command !== 'function') throw new Error(`The client has no ${name}.`);
    walked.add(name);
    try {
      return await request(Reflect.apply(command, undefined, args));
    } catch (error) {
      throw new Error(`${name}(${JSON.stringify(args)}) failed: ${told(error)}`, { cause: error });
    }
  };
}

/** What a client tells of a failure: not every client throws errors. */
function told(error: unknown): string {
  const code = /"code":"(\w+)"/.exec(
    JSON.stringify(error, (key, value: unknown) => (key === 'response' ? null : value)),
  );
  if (error instanceof Error) return `${code?.[1] ?? ''} ${error.message}`;
  return JSON.stringify(error, (key, value: unknown) => (key === 'response' ? undefined : value));
}

/** The member of an answer, which has to be there. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
    throw new Error(`${JSON.stringify(value)} has no ${name}.`);
  }
  return new Map(Object.entries(value)).get(name);
}

/** An array, as commands answer for several. */
export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${JSON.stringify(value)} is no list.`);
  return value;
}
