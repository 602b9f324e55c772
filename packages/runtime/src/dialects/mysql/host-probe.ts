import { type Connection, createConnection } from 'mysql2';
import type { HostFacts, HostProbe } from '../../database/host-state.ts';
import type { TextRow } from '../../database/own-statements.ts';
import type { RenewableUrl } from '../../environment/renewable-url.ts';
import { toMysqlError } from './driver/errors.ts';
import { connectionOptions, cut } from './driver/options.ts';
import { askMysql, nodePosition, positionSqlOf } from './host-state.ts';

const connectTimeout = 1_000;

/** Name of the running server, and of its cluster where it has one: that of nodes, or that of a group. */
const identitySql = `SHOW GLOBAL VARIABLES WHERE Variable_name IN
('server_uuid', 'server_id', 'hostname', 'port', 'wsrep_on', 'wsrep_cluster_name', 'group_replication_group_name', 'gtid_executed', 'gtid_current_pos')`;

/** Asks a MySQL or MariaDB server for its state. */
export function probeMysql(address: RenewableUrl): HostProbe {
  let connection: Connection | null = null;
  let isNode = false;

  function query(text: string): Promise<readonly TextRow[]> {
    connection ??= connect(address.current(), (ended) => {
      // The next question connects anew: its error tells why that fails.
      if (connection === ended) connection = null;
    });
    const current = connection;
    return new Promise((resolve, reject) => {
      current.query({ sql: text, rowsAsArray: true, typeCast: (field) => field.string() }, (error, rows) => {
        if (error) reject(toMysqlError(error));
        // With these options rows are lists of texts.
        else resolve(rows as unknown as readonly TextRow[]);
      });
    });
  }

  return {
    async ask() {
      const report = await askMysql({ query });
      const variables = new Map((await query(identitySql)).map(([name, value]) => [name, value]));
      isNode = variables.get('wsrep_on') === 'ON';
      const positionSql = positionSqlOf(variables);
      const facts = { ...report, ...identityOf(variables), database: new URL(address.current()).pathname.slice(1) };
      if (!isNode) return { ...facts, ...(positionSql && { positionSql }) };
      const [[position] = []] = report.state === 'primary' ? await query(nodePosition.written) : [];
      return { ...facts, positionSql: nodePosition, ...(position && { position }) };
    },
    async catchUp() {
      if (isNode) await query(nodePosition.reached);
    },
    reset() {
      if (connection !== null) cut(connection);
      connection = null;
    },
  };
}

function connect(url: string, ended: (connection: Connection) => void): Connection {
  const connection = createConnection({ ...connectionOptions(url), connectTimeout });
  // Each question hears of it by itself.
  connection.on('error', () => ended(connection)).on('end', () => ended(connection));
  return connection;
}

function identityOf(
  variables: ReadonlyMap<unknown, unknown>,
): Pick<HostFacts, 'system' | 'instance' | 'isMulti' | 'position'> {
  const text = (name: string): string => String(variables.get(name) ?? '');
  const instance = text('server_uuid') || `${text('hostname')} ${text('port')} ${text('server_id')}`;
  const isNode = text('wsrep_on') === 'ON';
  const group = text('group_replication_group_name');
  const system = isNode ? text('wsrep_cluster_name') : group;
  // Those of nodes of a cluster are none of the cluster.
  const position = isNode ? '' : text('gtid_executed') || text('gtid_current_pos');
  return { instance, ...(system !== '' && { system, isMulti: true }), ...(position !== '' && { position }) };
}
