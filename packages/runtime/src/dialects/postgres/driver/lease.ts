/** Requests for a connection of their own. */
import type { PlatformError } from '../../../errors.ts';
import type { PooledConnection } from './pooled-connection.ts';

/** A request for a connection of its own that waits for one. */
export interface Waiting {
  readonly deadline: number;
  readonly leaseFor: LeaseFor;
  readonly take: (member: PooledConnection) => void;
  readonly refuse: (error: PlatformError) => void;
}

/** Purpose of a lease: a transaction can be queued after the end of another one. */
export type LeaseFor = 'stream' | 'transaction';
