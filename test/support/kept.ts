/** Connections that are kept for the next statement of a test: opening one takes a hundred times as long as asking it. */

/** How connections of one driver are made and judged. */
export interface Opening<Connection> {
  open(url: string): Promise<Connection>;
  close(connection: Connection): Promise<unknown>;
  /** False where a use has left something in the session. */
  isClean?(connection: Connection): boolean;
  /** True for the error of a use whose first statement found that the server had ended the connection. */
  wasLost(connection: Connection, error: unknown): boolean;
}

/** Connections of one driver, by the URLs of their databases. */
export interface Kept<Connection> {
  /** Lets `use` have a connection that no other use has at this moment. */
  use<T>(url: string, use: (connection: Connection) => Promise<T>): Promise<T>;
  /** Closes those of a database, before it is dropped. */
  close(url: string): Promise<void>;
}

/** Keeps the connections of a driver for this process. */
export function keepConnections<Connection>(opening: Opening<Connection>): Kept<Connection> {
  const { open, isClean = () => true, wasLost } = opening;
  const idle = new Map<string, Connection[]>();
  const close = (connection: Connection): Promise<unknown> => opening.close(connection).catch(() => {});

  async function run<T>(url: string, connection: Connection, use: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const result = await use(connection);
      if (isClean(connection)) {
        idle.set(url, [...(idle.get(url) ?? []), connection]);
      } else {
        // It may have changed how sessions begin.
        await Promise.all([close(connection), closeIdle(url)]);
      }
      return result;
    } catch (error) {
      await close(connection);
      throw error;
    }
  }

  async function closeIdle(url: string): Promise<void> {
    const connections = idle.get(url) ?? [];
    idle.delete(url);
    await Promise.all(connections.map(close));
  }

  return {
    async use(url, use) {
      const connection = idle.get(url)?.pop();
      if (connection === undefined) return run(url, await open(url), use);
      return run(url, connection, use).catch(async (error: unknown) => {
        if (wasLost(connection, error)) return run(url, await open(url), use);
        throw error;
      });
    },
    close: closeIdle,
  };
}

/** True for statements that leave something in a session, or that depend on when it began. */
export function isOfSession(sql: string): boolean {
  return ofSession.test(sql);
}

const ofSession = new RegExp(
  [
    String.raw`(?:^|;)\s*(?:SET|RESET|DISCARD|LISTEN|PREPARE|DECLARE|LOAD)\b`,
    String.raw`\bTEMP(?:ORARY)?\b`,
    String.raw`\bALTER\s+(?:DATABASE|ROLE|USER|SYSTEM)\b`,
    String.raw`\bset_config\([^)]*false\)`,
    String.raw`\b(?:pg_(?:try_)?advisory_lock\w*|pg_backend_pid|pg_stat_activity|pg_terminate_backend)\b`,
    String.raw`\b(?:GET_LOCK|CONNECTION_ID|LOCK\s+TABLES|START\s+TRANSACTION|BEGIN\s*;)`,
  ].join('|'),
  'i',
);
