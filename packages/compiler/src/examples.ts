import type { JsonValue } from '@tablewright/runtime/language';

/** A request that was sent once, and what it was answered. */
export interface Example {
  /** Method and address as they were sent, without tokens: `GET /items/articles?limit=2`. */
  readonly request: string;
  /** JSON that was sent. Default: none. */
  readonly body?: JsonValue;
  /** Status of the response; 200 to 299. */
  readonly status: number;
  /** JSON that was answered. Default: none. */
  readonly answer?: JsonValue;
}

/** Examples of the operations of a document, by their `operationId`. */
export type OperationExamples = Readonly<Record<string, readonly Example[]>>;

/** Examples of each access class, by its name: one class may not see those of another. */
export type Examples = Readonly<Record<string, OperationExamples>>;
