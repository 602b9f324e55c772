/** Invitations and second factors. Source: API specification, sections 3.3 and 3.4. */
import type { Accounts } from '../../auth/accounts.ts';
import type { Invite } from '../../auth/mailed-tokens/invites.ts';
import type { Database } from '../../database/database.ts';
import { identifiedRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { clientOf } from '../../environment/networks.ts';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import type { ownUserResource, userResource } from '../../language/operations/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { withoutAnswer } from '../../write/execute/transaction-body.ts';
import type { Writer } from '../../write/writer.ts';
import { linkOf } from './auth.ts';
import { done, type Implementations, type OperationContext } from './bind.ts';
import { answerOf, onceOf, runOnce } from './once.ts';

export function ownUserOperations(
  database: Pick<Database, 'transaction'>,
  system: SystemPlace,
): Implementations<typeof ownUserResource> {
  const { table, write } = ownTables(system);
  const trackSql = write(`UPDATE ${table('platform_users')} SET last_page = $2::text WHERE id = $1::uuid`);
  return {
    async usersMeTrackPage({ last_page }, { caller }) {
      await database.transaction(async (transaction) => {
        await identifiedRow(transaction, trackSql, [caller.user, last_page]);
        return { value: undefined };
      });
      return done;
    },
  };
}

/** Operations on users beside those of their collection. */
export function userOperations(
  accounts: Pick<Accounts<unknown>, 'setPassword' | 'secondFactors' | 'attempts' | 'outbox'>,
  invite: Invite,
  writer: Pick<Writer, 'once' | 'kept'>,
  { mail, maxBatchMutation }: Pick<Environment, 'mail' | 'maxBatchMutation'>,
): Implementations<typeof userResource> {
  const { secondFactors, attempts, outbox } = accounts;
  return {
    async usersInvite(input, context) {
      const { caller, sender } = context;
      const { email, role, invite_url } = input;
      const emails = typeof email === 'string' ? [email] : email;
      if (maxBatchMutation !== null && emails.length > maxBatchMutation) {
        throw new PlatformError('INVALID_PAYLOAD', `"email" has more than ${maxBatchMutation} addresses.`);
      }
      const url = linkOf('invite_url', invite_url, mail.invite.allowed);
      const once = onceOf(context, { ...input });
      const prepare = async () => {
        await attempts.mail('invite', emails, clientOf(sender));
        return withoutAnswer(invite(caller, sender, { emails, role, url }));
      };
      // Looked for first, so that a repetition counts no mail.
      const kept = await writer.kept(once.request, once.payload);
      if (kept === null) await runOnce(writer, once, prepare);
      else answerOf(kept);
      return { ...done, afterwards: outbox.wake };
    },
    async usersInviteAccept({ token, password }, { sender }) {
      await accounts.setPassword('invite', token, password, sender);
      return done;
    },
    async usersMeTfaGenerate({ password }, context) {
      const { user, sender } = ownerOf(context);
      const { secret, otpauthUrl } = await secondFactors.generate(user, password, clientOf(sender));
      return { value: { secret, otpauth_url: otpauthUrl } };
    },
    async usersMeTfaEnable({ secret, otp }, context) {
      await secondFactors.enable(ownerOf(context), secret, otp);
      return done;
    },
    async usersMeTfaDisable({ otp }, context) {
      await secondFactors.disable(ownerOf(context), otp);
      return done;
    },
    usersMeTfaRecoveryCodes: async ({ otp }, context) => ({
      value: { recovery_codes: await secondFactors.makeCodes(ownerOf(context), otp) },
    }),
    async usersTfaDisable({ id }, context) {
      const { caller, sender } = context;
      await runOnce(writer, onceOf(context, null), async () =>
        secondFactors.disableFor(id, { by: caller.user, sender }),
      );
      return done;
    },
  };
}

function ownerOf({ caller: { user, session }, sender }: OperationContext) {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return { user, sender, ...(session !== undefined && { session }) };
}
