import type { HostFacts, HostProbe } from '../../database/host-state.ts';
import type { RenewableUrl } from '../../environment/renewable-url.ts';
import { connectClient } from './driver/client.ts';
import { identitySql, readIdentity } from './driver/identified.ts';
import { postgresSettings } from './driver/options.ts';
import { lagSql, replayedSql } from './host-state.ts';

const connectTimeoutMs = 1_000;

/** A standby follows the history that its recovery has reached. */
const probeSql = `SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only'),
  ${lagSql}, ${identitySql},
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN (SELECT min_recovery_end_timeline FROM pg_catalog.pg_control_recovery()) END,
  (${replayedSql}),
  pg_catalog.concat(EXTRACT(EPOCH FROM pg_catalog.pg_postmaster_start_time()), ' ', pg_catalog.current_setting('data_directory_mode'),
    ' ', pg_catalog.inet_server_port()),
  (SELECT d.oid::pg_catalog.text FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())`;

/** Asks a PostgreSQL server for its state and history. */
export function probePostgres(address: RenewableUrl): HostProbe {
  const settings = postgresSettings({ url: address.current(), renewable: address, connectTimeoutMs });
  type Connecting = ReturnType<typeof connectClient>;
  let connecting: Connecting | null = null;

  function connect(): Connecting {
    const made = connectClient(settings, { application_name: settings.applicationName }, async () => {});
    // The next question connects anew: its error tells why that fails.
    const forget = (): void => {
      if (connecting === made) connecting = null;
    };
    void made.then(
      ({ client }) => client.once('end', forget),
      () => {},
    );
    return made;
  }

  function drop(dropped: Connecting | null): void {
    void dropped?.then(
      ({ client }) => client.connection.stream.destroy(),
      () => {},
    );
  }

  return {
    async ask() {
      connecting ??= connect();
      const { client } = await connecting;
      const { rows } = await client.query<(string | boolean | number | null)[]>({ text: probeSql, rowMode: 'array' });
      return factsOf(rows[0] ?? []);
    },
    reset() {
      drop(connecting);
      connecting = null;
    },
  };
}

function factsOf(row: readonly unknown[]): HostFacts {
  const [standby, readOnly, lag, identity, followed, position, instance, database] = row;
  const { system, timeline } = readIdentity(typeof identity === 'string' ? identity : null) ?? {};
  const history = timeline ?? (followed == null ? undefined : Number(followed));
  const state = standby === true || readOnly === 'on' ? 'read-only' : 'primary';
  return {
    state,
    ...(standby === true && lag != null && { lag: Math.max(0, Number(lag)) }),
    ...(system !== undefined && { system }),
    ...(history !== undefined && { timeline: history }),
    ...(typeof position === 'string' && { position }),
    instance: `${system} ${instance}`,
    ...(typeof database === 'string' && { database }),
  };
}
