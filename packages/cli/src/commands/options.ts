/** Options that every command takes. */
export interface GlobalOptions {
  /** Folder with platform.config.ts; default: the current one. */
  readonly project: string;
  /** One JSON event per line on stdout instead of text. */
  readonly json?: boolean;
  /** Also print notes (severity `info`). */
  readonly notes?: boolean;
}

/** Options of `platform doctor`. */
export interface DoctorOptions extends GlobalOptions {
  /** Also look at the settings of a server that is to be used. */
  readonly production?: boolean;
  /** With `production`: processes that are to serve; digits. */
  readonly workers?: string;
}

/** Options of `platform start`. */
export interface StartOptions extends GlobalOptions {
  /** Introspect and compile first. */
  readonly generate?: boolean;
  /** Compile and serve the sample of the repository, or DATABASE_URL. */
  readonly sample?: boolean;
  /** Refuse writes to roles and permissions, so that the server serves exactly the generated API. */
  readonly frozen?: boolean;
  /** Record requests and responses as examples of the OpenAPI documents. */
  readonly recordExamples?: boolean;
  /** Answer no GraphQL documents but those that were compiled. */
  readonly trustedDocuments?: boolean;
  /** Serve by this many processes; digits. Default: by this one. */
  readonly workers?: string;
}
