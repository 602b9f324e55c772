/** Table that a draft stands for, in names that are not quoted. */
export interface TableDraft {
  /** `public` for the database of the connection. */
  readonly schema: string;
  readonly table: string;
  /** The copy; null where the table goes. */
  readonly draft: string | null;
  /** True if the table is there already. */
  readonly stands: boolean;
  /** Foreign keys that it loses: a copy has those only that the change adds. */
  readonly droppedKeys: readonly string[];
}
