/** A file of the project with code that the server runs. */
export interface ExtensionSource extends ModuleSource {
  /** Module path in the import of generated code: `../extensions/orders.ts`. */
  readonly from: string;
}

/** A file of the project. */
export interface ModuleSource {
  /** As people know it, from the project's folder on and with `/` on every system: `extensions/orders.ts`. */
  readonly path: string;
  readonly text: string;
}
