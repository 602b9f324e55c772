/** Answers that shared caches keep: for how long, and what that means. */
import { cacheSeconds } from '../../passes/name-fields.ts';
import type { Rule } from '../rule.ts';
import { tablePlace } from '../rule.ts';
import { configError } from './config-problem.ts';
import { configuredTables } from './configured.ts';

/** A time that can be kept, of a collection that has routes of its own. */
export const configCache: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { cache }, table, collection }) => {
    if (cache === undefined) return [];
    const path = ['collections', name, 'cache', 'public'];
    if (collection?.system !== undefined) {
      return [configError(path, 'cache', 'Collections of the platform are not kept by caches.')];
    }
    const seconds = cacheSeconds(cache.public);
    if (seconds === undefined) {
      return [configError(path, 'cache', `"${cache.public}" is no time from "1s" to "300s".`)];
    }
    const message = `Caches keep answers to requests without a token. One that no purge reaches may be ${seconds} s old, also after a right was withdrawn.`;
    return [{ code: 'cache-public', severity: 'info', place: tablePlace(schema, table), message, hint: null }];
  });
