/** The pages of docs/quickstart as tests run them: in a shell in which servers of other terminals are waited for. */
import { readText } from '../architecture/files.ts';
import { blocksOf } from './examples.ts';

/** The page of a new project, with the program of the page about frontends before prices are taken away. */
export function newProjectPage(): string {
  const [before = '', after = ''] = readText('docs/quickstart/embedded.md').split(/^(?=## Change the rules)/m);
  return `${before}\n\`\`\`sh\nrun_program\n\`\`\`\n\n${after}`;
}

/** The program of the page about frontends. */
export function frontendProgram(): string {
  return blocksOf(readText('docs/quickstart/frontend.md'), 'ts').join('\n');
}

/** Lines that the program prints, as its comments tell them. */
export function printedByProgram(): readonly string[] {
  return [...frontendProgram().matchAll(/\/\/ (.*)$/gm)].map(([, text = '']) => text);
}

/** The page of an existing database, with the address of a real one. */
export function existingDatabasePage(url: string): string {
  return readText('docs/quickstart/existing-database.md').replace('postgres://user:password@localhost:5432/shop', url);
}

/** SQL of the database that the page stands for. */
export function existingDatabase(): string {
  return blocksOf(readText('docs/quickstart/existing-database.md'), 'sql').join('\n');
}

/**
 * Functions of the shell: `serve dev` and `serve start` run what the function `server` of the test starts, and go on when
 * it listens; `curl` waits until it serves what was changed; `run_program` runs PROGRAM. The number of a server is in the
 * file that PIDS names.
 */
export const waiting = `
serve() {
  server "$1" > server.log 2> errors.log &
  echo $! > "$PIDS"
  until grep -q '"event":"listening"' server.log; do kill -0 $!; sleep 0.1; done
  touch served
}
curl() {
  if [ permissions.yaml -nt served ]; then
    until [ "$(grep -c '"event":"rebuilt"' server.log)" -gt 0 ]; do sleep 0.1; done
    touch served
  fi
  command curl -sS "$@"
}
run_program() {
  echo "\${PROGRAM//8055/$PORT}" > program.ts
  node program.ts > printed.txt
}
`;
