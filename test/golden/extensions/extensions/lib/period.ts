/** What teams are asked about. */
export interface Period {
  readonly from: Date;
  readonly to?: Date;
}
