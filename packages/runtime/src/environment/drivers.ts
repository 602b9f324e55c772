/**
 * Ways to talk to a server: `fast` is our own pipelined client, `pg` the plain driver, and `auto` the fast one unless a
 * pooler in between does not support it.
 */
export const drivers = ['auto', 'fast', 'pg'] as const;

/** One of them. */
export type Driver = (typeof drivers)[number];
