/** Options that every command takes. */
export interface GlobalOptions {
  /** Folder with platform.config.ts; default: the current one. */
  readonly project: string;
  /** One JSON event per line on stdout instead of text. */
  readonly json?: boolean;
  /** Also print notes (severity `info`). */
  readonly notes?: boolean;
}
