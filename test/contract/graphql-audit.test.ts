/** The audits of the reference implementation of GraphQL over HTTP: what servers must, should and may do, all of it. */
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql: 'CREATE TABLE notes (id integer PRIMARY KEY)' });
});
afterAll(() => project?.close());

/** Where requests of the audits go at the moment. */
let path = '/graphql';
const audits = serverAudits({ url: () => `${project.url}${path}` });

it.each(['/graphql', '/graphql/system'])('%s passes every audit', async (scope) => {
  path = scope;
  const failed: unknown[] = [];
  for (const audit of audits) {
    const result = await audit.fn();
    if (result.status !== 'ok') failed.push({ id: audit.id, name: audit.name, reason: result.reason });
  }
  expect(failed).toEqual([]);
  expect(audits.length).toBeGreaterThan(60);
});
