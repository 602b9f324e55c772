/** Options of a server, and the server that runs. */
import type { MailFolders } from '../auth/accounts.ts';
import type { FirstAdministrator } from '../auth/first-administrator.ts';
import type { RoomChannel } from '../database/host-state.ts';
import type { DatabasePlace } from '../dialects/open.ts';
import type { Drift } from '../drift.ts';
import type { Variables } from '../environment.ts';
import type { AnsweredExchange } from '../http/exchanges.ts';
import type { Readiness } from '../http/health.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Recompiler } from '../model/recompiler.ts';
import type { MetricValues } from '../operate/metrics/measured.ts';
import type { PassedConnections } from './acceptor.ts';
import type { GatherMetrics } from './instruments.ts';

/** Options for running a server. Everything has a default. */
export interface ServeOptions {
  /** Environment variables by name; those of the process when absent. */
  readonly variables?: Variables;
  /** The database; DATABASE_URL when absent, and without that an embedded one that was made under `.platform/database`. */
  readonly database?: DatabasePlace;
  /**
   * True if SIGTERM, SIGINT and SIGHUP stop the server and end the process: 0 after a clean stop, at once on a second signal.
   * On unless false: switch it off if the process belongs to another application.
   */
  readonly signals?: boolean;
  /** Folders of mail without a mail server, and of templates that replace the platform's own. */
  readonly mail?: Partial<MailFolders>;
  /** Folder with templates of pages that replace the platform's own of the same name. None when absent. */
  readonly pages?: string | null;
  /** Folder of the files that are uploaded, unless the environment names others. Default: `.platform/uploads`. */
  readonly uploads?: string;
  /**
   * Compiles roles and rules anew when the platform's own tables differ from the served API. Closed with the server.
   * Default: none, and the rules in the tables cannot be written by requests.
   */
  readonly recompiler?: Recompiler;
  /** Refuses writes to roles, too, so that the server serves exactly the generated API. Default: false. */
  readonly frozen?: boolean;
  /** Answers no GraphQL documents but those that were compiled with the API. Default: any. */
  readonly trustedDocuments?: boolean;
  /**
   * Called with the administrator that was made because there was no user. When absent, the address is printed to the
   * standard output. A generated password comes with it on a terminal, else the path of a file that has it.
   */
  readonly onFirstAdministrator?: (administrator: FirstAdministrator) => void | Promise<void>;
  /** Called with every request and its answer, bodies of at most 16 KB. Not for production. Default: none. */
  readonly onExchange?: (httpContext: AnsweredExchange) => void;
  /**
   * Gathers the metrics of all processes that serve together. The process that watches over them listens on METRICS_PORT
   * then. Default: the metrics are those of this process.
   */
  readonly gatherMetrics?: GatherMetrics;
  /** Way to the other processes that serve together: the health of each tells of a full disk. Default: of its own writes. */
  readonly room?: RoomChannel;
  /** Connections that another process accepts on HOST and PORT. Default: the server listens there itself. */
  readonly connections?: PassedConnections;
}

/** A server that listens. */
export interface RunningServer {
  /** Address at which it answers, without a trailing slash: `http://127.0.0.1:8055`. */
  readonly url: string;
  /** Paths of the pages that people begin with; `/` leads to all of them. */
  readonly pages: readonly string[];
  /** Address at which `/metrics` is read, without that path; null where METRICS_PORT says nothing, or another process listens. */
  readonly metricsUrl: string | null;
  /** Answer of `/server/ready`: `ok`, or the reason why no request should be sent here. With the role `any` reading is enough. */
  ready(role?: string): Promise<Readiness>;
  /** Reads the metrics of this process; none where nothing is counted. */
  metrics(): Promise<readonly MetricValues[]>;
  /** Differences between the database and the compiled API, as of the latest check. */
  drifts(): readonly Drift[];
  /**
   * Has new requests answered by another API of the same database; those under way stay with the one that they began with.
   * Rejects, and leaves the current one, when it cannot be started.
   */
  replace(api: CompiledApi): Promise<void>;
  /**
   * Serves everything for SHUTDOWN_DELAY, stops listening, finishes running requests within SHUTDOWN_TIMEOUT, and closes
   * the database. Can be called twice. Where another process has taken over, `lingerMs` stands for SHUTDOWN_DELAY, and no
   * new connections are accepted in it.
   */
  close(lingerMs?: number): Promise<void>;
}
