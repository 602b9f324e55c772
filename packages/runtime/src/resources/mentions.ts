/** Mail for users whom a comment mentions by `@<user id>`. Source: API specification, section 10.3. */

import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRows } from '../database/own-statements/script.ts';
import type { TextRow } from '../database/own-statements/texts.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import { mysqlAccountColumns } from '../dialects/mysql/own-tables/account-columns.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { accountColumns } from '../dialects/postgres/own-tables/account-columns.ts';
import { accessNames } from '../language/descriptors/access-names.ts';
import { arrayLiteral, type CompiledApi } from '../language/index.ts';
import type { Planner } from '../query/planner.ts';
import type { SystemPlace } from '../system/place.ts';
import { accountWidth, readAccount } from '../users/account.ts';
import { areReadable } from './are-readable.ts';
import type { Comment, HearComments } from './comment-hook.ts';

/** Options of mailing mentions. */
export interface MentionsOptions {
  readonly api: CompiledApi;
  readonly place: SystemPlace;
  readonly planner: Planner;
  /** Called with a transaction that has queued mail. */
  readonly mailed: (transaction: Transaction) => void;
}

const reference = /@([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![0-9a-z-])/gi;

/** Mentions of one request beyond these are passed over: comments are no mailing list. */
const maxMentions = 50;

interface Statements {
  readonly users: OwnSql;
  readonly mail: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const usersSql = `SELECT ${accountColumns} FROM ${schema}.platform_users u
LEFT JOIN ${schema}.platform_roles r ON r.id = u.role
WHERE u.id = ANY ($1::uuid[]) AND u.status = 'active' AND u.email_notifications AND u.email IS NOT NULL ORDER BY u.id`;
  const mailSql = `WITH mails AS (
  INSERT INTO ${schema}.platform_mails (template, recipient, template_values)
  SELECT 'mention', m.recipient, pg_catalog.jsonb_build_object('collection', $2::text, 'item', $3::text, 'comment', $4::text)
  FROM pg_catalog.unnest($1::text[]) AS m(recipient) RETURNING 1
) SELECT ${transactionNumber} FROM mails LIMIT 1`;
  return { users: usersSql, mail: mailSql };
}

function mysqlStatements({ table, list }: MysqlTables): Statements {
  return {
    users: createScript(
      returnRows(`SELECT ${mysqlAccountColumns} FROM ${table('platform_users')} AS u JOIN ${list('$1[]', 'k')} ON u.id = k.v
LEFT JOIN ${table('platform_roles')} AS r ON r.id = u.role
WHERE u.status = 'active' AND u.email_notifications AND u.email IS NOT NULL ORDER BY u.id`),
    ),
    mail: createScript(`INSERT INTO ${table('platform_mails')} (template, recipient, template_values)
SELECT 'mention', m.v, JSON_OBJECT('collection', $2, 'item', $3, 'comment', $4) FROM ${list('$1[]', 'm')}`),
  };
}

/** Makes the function that queues the mails, in the transaction that writes the comments. */
export function createMentions({ api, place: location, planner, mailed }: MentionsOptions): HearComments {
  const names = accessNames(api);
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });

  function callerOf(row: TextRow): Caller & { readonly email: string } {
    const { id, role, email } = readAccount(row.slice(0, accountWidth));
    return { accessClass: names.of(role), user: id, role: role?.id ?? null, email: email ?? '' };
  }

  return async function hear(running, comments) {
    const { transaction } = running;
    let left = maxMentions;
    for (const comment of comments) {
      const mentioned = mentionsIn(comment).slice(0, left);
      left -= mentioned.length;
      if (mentioned.length === 0) continue;
      const recipients: string[] = [];
      for (const row of await allRows(transaction, texts.users, [arrayLiteral(mentioned)])) {
        const user = callerOf(row);
        const readable = await areReadable(running, planner, user, {
          collection: comment.collection,
          items: [comment.item],
        });
        if (readable) recipients.push(user.email);
      }
      if (recipients.length === 0) continue;
      const { collection, item, text } = comment;
      const row = await firstRow(transaction, texts.mail, [arrayLiteral(recipients), collection, item, text]);
      if (row?.[0]) transaction.identify(row[0]);
      mailed(transaction);
    }
  };
}

function mentionsIn({ text }: Comment): readonly string[] {
  return [...new Set([...text.matchAll(reference)].map(([, id = '']) => id.toLowerCase()))];
}
