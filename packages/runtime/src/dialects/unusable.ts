/** A database that cannot be used, as a sentence and its cure: the same for commands that compile and for servers. */
import { ConnectionError, readable, ServerError } from '../database/errors.ts';
import { hostUrls, parseAddress } from '../environment/renewable-url.ts';
import { titleOf } from '../language/index.ts';

/** Texts for people. */
export interface UnusableDatabase {
  readonly message: string;
  readonly hint: string;
}

/** Names the database of a URL, without credentials. */
export function databaseLabel(url: string): string {
  const urls = hostUrls(url).flatMap((each) => parseAddress(each) ?? []);
  const hosts = urls.map(({ host, searchParams }) => searchParams.get('host') ?? (host || 'localhost'));
  return `${titleOf(url)} at ${hosts.map(readable).join(', ')}${readable(urls[0]?.pathname ?? '')}`;
}

/** Tells by the error of a driver, or its causes, why a database cannot be used. `label` names it. */
export function unusableDatabase(label: string, error: unknown): UnusableDatabase {
  const chain = chainOf(error);
  const last = chain.at(-1);
  const cause = chain.map((link) => causes.get(codeOf(link)) ?? causes.get(link.message)).findLast(Boolean);
  const [text, hint] = cause ?? (last instanceof ConnectionError ? cut : other);
  const subject = label.charAt(0).toUpperCase() + label.slice(1);
  return { message: `${subject} cannot be used: ${text ?? messageOf(last, error)}.`, hint };
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && chain.length < 8; link = link.cause) chain.push(link);
  return chain;
}

function codeOf(error: Error): string {
  if (error instanceof ServerError) return error.sqlstate;
  if (!('code' in error)) return '';
  // A file that is missing is one that the address names, or the socket of the server.
  return error.code === 'ENOENT' && 'syscall' in error ? `ENOENT ${error.syscall}` : String(error.code);
}

/** Message of a driver, without its full stop and the number that some carry at its end. */
function messageOf(error: Error | undefined, thrown: unknown): string {
  if (error === undefined) return String(thrown);
  return error.message === '' ? codeOf(error) : error.message.replace(/ \(\d+\)$/, '').replace(/\.$/, '');
}

/** A reason, where the driver's is no text for people, and a cure. */
type Cause = readonly [text: string | undefined, hint: string];

const elsewhere = 'Check host and port in DATABASE_URL, and that the server accepts connections from here.';
const account = 'Check user and password in DATABASE_URL.';
const name = 'Check the name of the database at the end of DATABASE_URL, or create the database.';
const host = 'Check the name of the host in DATABASE_URL.';
const permissions =
  'GRANT the user of DATABASE_URL rights on the database, or check the name at the end of DATABASE_URL.';
const again = 'Try again when the server has started; its log says why it did.';

const files = 'Check the files that sslrootcert, sslcert and sslkey name in DATABASE_URL.';
const untrusted: Cause = [
  'this machine does not trust the authority of its certificate',
  'Name the file of that authority in NODE_EXTRA_CA_CERTS, or as sslrootcert in an address that knows it.',
];
const modes = 'Write ssl-mode=verify_identity, ssl-mode=verify_ca or ssl-mode=required in DATABASE_URL.';
const other: Cause = [undefined, elsewhere];
const silence: Cause = ['it does not answer within ten seconds', elsewhere];
const cut: Cause = ['it ended the connection', again];

/** By codes of Node and of the servers, or by the message of a driver. */
const causes: ReadonlyMap<string, Cause> = new Map<string, Cause>([
  ['SELF_SIGNED_CERT_IN_CHAIN', untrusted],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrusted],
  ['ERR_TLS_CERT_ALTNAME_INVALID', ['its certificate is for another host', 'Name the host as its certificate does.']],
  ['The server does not support SSL connections', [undefined, 'Switch TLS on there, or write sslmode=disable.']],
  ['HANDSHAKE_NO_SSL_SUPPORT', [undefined, 'Switch TLS on there, or leave ssl-mode out of DATABASE_URL.']],
  ['UNKNOWN_ENCRYPTION', [undefined, modes]],
  ['ENOENT open', [undefined, files]],
  ['EACCES', [undefined, files]],
  ['ENOENT connect', ['no socket is there', 'Start the database server, or check the folder in DATABASE_URL.']],
  ['ECONNREFUSED', ['nothing listens there', 'Start the database server, or check host and port in DATABASE_URL.']],
  ['ENOTFOUND', ['there is no host of that name', host]],
  ['EAI_AGAIN', ['there is no answer for the name of the host', host]],
  ['ETIMEDOUT', silence],
  ['timeout expired', silence],
  ['ECONNRESET', cut],
  ['EPIPE', cut],
  ['PROTOCOL_CONNECTION_LOST', cut],
  ['Connection terminated unexpectedly', cut],
  ['57P01', cut],
  ['57P02', cut],
  ['28P01', [undefined, account]],
  ['28000', [undefined, account]],
  ['3D000', [undefined, name]],
  // A database that is not there, to servers without schemas.
  ['42P01', [undefined, name]],
  ['42501', [undefined, permissions]],
  ['ER_ACCESS_DENIED_ERROR', [undefined, account]],
  ['ER_BAD_DB_ERROR', [undefined, name]],
  ['ER_DBACCESS_DENIED_ERROR', [undefined, permissions]],
]);
