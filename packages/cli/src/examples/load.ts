import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Example, Examples } from '@tablewright/compiler';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { isPresent } from '../modules/import-config.ts';
import type { Project } from '../project/project.ts';

/** Requests and answers that were recorded, in the project's folder; under version control, because documents show them. */
const fileName = 'openapi-examples.json';

export function examplesFile({ folder }: Pick<Project, 'folder'>): string {
  return join(folder, fileName);
}

/** The examples of a project; none without the file. Rejects when it holds something else. */
export async function loadExamples(project: Pick<Project, 'folder'>): Promise<Examples> {
  const path = examplesFile(project);
  if (!isPresent(path)) return {};
  const examples = parsed(await readFile(path, 'utf8'));
  if (areExamples(examples)) return examples;
  throw new CommandError(
    exitCodes.invalid,
    `${fileName} holds something else than recorded examples.`,
    'Remove it, and record it again with `platform start --record-examples`.',
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function areExamples(value: unknown): value is Examples {
  return areMembers(value, (byOperation) =>
    areMembers(byOperation, (examples) => Array.isArray(examples) && examples.every(isExample)),
  );
}

function areMembers(value: unknown, isValid: (inner: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isValid);
}

function isExample(value: unknown): value is Example {
  if (typeof value !== 'object' || value === null || !('request' in value) || !('status' in value)) return false;
  return typeof value.request === 'string' && typeof value.status === 'number';
}
