/** A file of the project with code that the server runs. */
export interface ExtensionSource {
  /** As people know it, with `/` on every system: `extensions/orders.ts`. */
  readonly path: string;
  readonly text: string;
  /** What generated code imports it by: `../extensions/orders.ts`. */
  readonly from: string;
}
