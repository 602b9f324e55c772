/** Whom an error of the database is told about. */
export interface ModelPlace {
  readonly collection: string;
  readonly field: string | null;
}
