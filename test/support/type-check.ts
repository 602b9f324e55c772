import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));

/** The strictness that generated code promises to pass. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};

/**
 * Type-checks a folder of generated code as a user would; returns what tsc printed, empty when it is clean. `looser` are
 * options in the place of ours, for code that others generate.
 */
export async function typeCheck(
  folder: string,
  looser: Readonly<Record<string, boolean | readonly string[]>> = {},
): Promise<string> {
  const project = join(folder, 'tsconfig.check.json');
  await writeFile(
    project,
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...looser }, include: ['generated', 'extensions'] }),
  );
  const child = spawn(process.execPath, [tsc, '--project', project, '--pretty', 'false'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  await once(child, 'close');
  return output;
}
