/**
 * Ways to talk to a server: `fast` is our own pipelined client, `pg` the plain driver, and `auto` the fast one unless
 * what stands between here and the server does not bear it.
 */
export const drivers = ['auto', 'fast', 'pg'] as const;

/** One of them. */
export type Driver = (typeof drivers)[number];
