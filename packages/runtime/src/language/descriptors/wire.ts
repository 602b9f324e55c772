/**
 * How one value arrives in the binary form of rows (`docs/decisions`), and so how its bytes become JSON.
 *
 * A column whose native type has no entry here is cast in SQL (`WireForm.cast`) to one that has: `numeric` is read as
 * `text`, `money[]` as `numeric[]::text[]`. The same form serves at every depth, so the bytes never depend on nesting.
 *
 * - `bool` 1 byte; `i2`, `i4` JSON numbers; `i8` a quoted decimal string
 * - `number` text of a number: unquoted when finite, quoted for NaN and infinities
 * - `text` UTF-8, escaped and quoted; `json` UTF-8 passed through; `jsonb` the same after one version byte
 * - `date` days, `time` microseconds, `timestamp` and `timestamptz` microseconds, each since 2000-01-01
 * - `uuid` 16 bytes; `bytes` base64
 * - `csv` UTF-8 text that reads as a JSON array of strings, split at every comma; the empty text is `[]`
 * - `masked` any value that is not null reads `"**********"`
 */
export type WireKind =
  | 'bool'
  | 'i2'
  | 'i4'
  | 'i8'
  | 'number'
  | 'text'
  | 'json'
  | 'jsonb'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'uuid'
  | 'bytes'
  | 'csv'
  | 'masked';

/** How a column is selected: the cast chain appended to its expression (for example `::numeric::text`), and what arrives. */
export interface WireForm {
  readonly kind: WireKind;
  /** True when `kind` is that of the elements of a (possibly multi-dimensional) array. */
  readonly array?: true;
  readonly cast?: string;
}
