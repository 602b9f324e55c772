/** Mail for users whom a comment mentions by `@<user id>`. Source: API specification, section 10.3. */

import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import type { TextRow } from '../database/own-statements/texts.ts';
import { allOf } from '../dialects/fragment.ts';
import { ownTables } from '../dialects/index.ts';
import { accountColumns, fromParts } from '../dialects/own-tables.ts';
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

function statements(location: SystemPlace) {
  const sql = ownTables(location);
  const { from, where } = fromParts(sql.among('platform_users', 'u'));
  return {
    users:
      sql.rows(`SELECT ${accountColumns(sql)} FROM ${from} LEFT JOIN ${sql.table('platform_roles')} AS r ON r.id = u.role
WHERE ${allOf([where, "u.status = 'active'", 'u.email_notifications', 'u.email IS NOT NULL'])} ORDER BY u.id`),
    mail: sql.write(`INSERT INTO ${sql.table('platform_mails')} (template, recipient, template_values)
SELECT 'mention', m.v, ${sql.object({ collection: '$2', item: '$3', comment: '$4' })} FROM ${sql.list('$1', 'text', 'm')}`),
  };
}

/** Makes the function that queues the mails, in the transaction that writes the comments. */
export function createMentions({ api, place: location, planner, mailed }: MentionsOptions): HearComments {
  const names = accessNames(api);
  const texts = statements(location);

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
