/** A server of a stranger's project: started by a package manager, ended by Ctrl-C. */
import { once } from 'node:events';
import type { Machine, Variables } from './machine.ts';

/** A server that listens. */
export interface ProjectServer {
  readonly url: string;
  /** Sends SIGINT to the whole group, as a terminal does, and resolves to what the first process ended with. */
  stop(): Promise<number | null>;
}

/** Starts a command that serves, and resolves when it listens; rejects with its output when it ends before. */
export async function startServer(
  machine: Machine,
  folder: string,
  command: readonly string[],
  variables: Variables,
): Promise<ProjectServer> {
  const child = machine.start(folder, command, { PORT: '0', ...variables });
  let output = '';
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
        const [, found] = /"listening","url":"(.*?)"/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    }
    child.once('close', (code) => reject(new Error(`\`${command.join(' ')}\` ended with ${code}:\n${output}`)));
  });
  return {
    url,
    stop: async () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      const [code] = await ended;
      return code;
    },
  };
}
