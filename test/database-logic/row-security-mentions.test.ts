/** A mention in a comment reaches those alone whom policies of the database let read the item. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { type SecuredProject, serveSecured } from '../support/secured.ts';

let mail: MailServer;
let project: SecuredProject;
beforeAll(async () => {
  mail = await startMailServer();
  project = await serveSecured({
    sql: ({ member, admin }) => `
      CREATE TABLE documents (id int PRIMARY KEY, owner uuid NOT NULL);
      ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON documents TO ${member}
        USING (owner = (current_setting('request.jwt.claims', true)::jsonb ->> 'sub')::uuid);
      CREATE POLICY all_rows ON documents TO ${admin} USING (true);
      GRANT SELECT ON documents TO ${member}, ${admin};
      GRANT USAGE ON SCHEMA platform TO ${admin};
      GRANT SELECT, INSERT, UPDATE ON platform.platform_comments TO ${admin};`,
    config: ({ anon, member, admin }) => `{ database: { rowSecurity: {
      claims: 'request.jwt.claims', roles: { public: '${anon}', member: '${member}', admin: '${admin}' } } } }`,
    permissions: 'roles: { member: {} }\npermissions: { member: { documents: { read: true } } }',
    environment: { EMAIL_SMTP_HOST: '127.0.0.1', EMAIL_SMTP_PORT: String(mail.port) },
  });
});
afterAll(async () => {
  await project?.close();
  await mail?.close();
});

it('is mailed to the owner of the row, and to no other user who is mentioned', async () => {
  const [owner, other] = await project.addUsers(2);
  await project.rows('INSERT INTO documents VALUES (1, $1)', [owner?.id]);
  const comment = async (text: string) => {
    const body = { collection: 'documents', item: '1', comment: text };
    return (await project.admin('/comments', { method: 'POST', body })).status;
  };
  expect(await comment(`Secret: @${other?.id}`)).toBe(200);
  expect(await comment(`For both: @${owner?.id} @${other?.id}`)).toBe(200);
  const [received, ...more] = await mail.to(`${owner?.id}@example.com`);
  expect([received?.text, more]).toEqual([expect.stringContaining('For both'), []]);
  await expect.poll(() => project.rows('SELECT id FROM platform.platform_mails')).toEqual([]);
  expect(await mail.to(`${other?.id}@example.com`, 0)).toEqual([]);
});
