import type { RawJson } from './raw-json.ts';

/** How rows become a file, one at a time. */
export interface FileFormat {
  /** In front of the first row, also when there is none. */
  readonly start: string;
  row(item: RawJson): string;
  /** After the last row. */
  end(rows: number): string;
}
