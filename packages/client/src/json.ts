/** Any value of JSON. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}
