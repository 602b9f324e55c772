/** All checks of `platform doctor --production` that other examinations do not make. */
import { contract } from '@tablewright/runtime/language';
import type { Project } from '../../project/project.ts';
import type { Finding } from '../../sources/finding.ts';
import { type ExaminedFacts, type ProductionFacts, productionFacts } from './facts.ts';

/** Adds them to the findings of every doctor, of which some are problems now. */
export async function examineProduction(
  project: Project,
  findings: readonly Finding[],
  examined: ExaminedFacts,
): Promise<readonly Finding[]> {
  const facts = await productionFacts(project, examined);
  return [...findings.map(strictly), ...runChecks(checks, facts)];
}

function strictly(finding: Finding): Finding {
  const strict = strictFindings.find(({ check }) => check === finding.check);
  return strict === undefined ? finding : { ...finding, check: strict.code, severity: 'problem' };
}

/** Days on which versions of Node reach the end of their life, from the schedule of its project. */
const endsOfLife: ReadonlyMap<number, string> = new Map([
  [18, '2025-04-30'],
  [20, '2026-04-30'],
  [22, '2027-04-30'],
  [23, '2025-06-01'],
  [24, '2028-04-30'],
  [25, '2026-06-01'],
  [26, '2029-04-30'],
]);

/** Different characters of a secret below which it is no random text. */
const fewCharacters = 8;

/** Connections of a process beside its pool: one may listen to changes of the model. */
const extraConnections = 1;

/** Milliseconds from which a timeout of statements is none: an hour. */
const longStatement = 3_600_000;

/** Variables of secrets that have a shortest length. */
const secretVariables = ['SECRET', 'SECRET_PREVIOUS', 'ADMIN_TOKEN', 'ADMIN_PASSWORD'];

const isTooShort = ({ variable, message }: ProductionFacts['problems'][number]): boolean =>
  secretVariables.includes(variable) && message.includes('must have at least');

/** Variables with hosts on other machines that are reached so, and the parameter that helps. */
function unsafeConnections({ connections }: ProductionFacts, encryption: 'none' | 'unchecked') {
  const unsafe = connections.filter((connection) => !connection.isLocal && connection.encryption === encryption);
  const variables = [...new Set(unsafe.map(({ variable }) => variable))];
  return { variables, cure: `Add \`?${unsafe[0]?.checking}\` to ${variables.join(' and ')}.` };
}

export const checks: readonly Check[] = [
  {
    code: 'environment',
    severity: 'problem',
    title: 'a variable that keeps the server from starting',
    wrong: ({ problems }) => problems.filter((problem) => !isTooShort(problem)).map(({ message }) => message),
    cure: 'Correct or remove the variable.',
  },
  {
    code: 'variable-misspelt',
    severity: 'warning',
    title: 'a variable that the server does not read, with a name that is almost one of its own',
    wrong: ({ misspelt }) => misspelt.map(({ name, meant }) => `${name} is not read. Did you mean ${meant}?`),
    cure: 'Rename the variable, or leave it alone if it is for another program.',
  },
  {
    code: 'node-end-of-life',
    severity: 'problem',
    title: 'a version of Node that gets no repairs any more',
    wrong({ node, now }) {
      const end = endsOfLife.get(Number(node.split('.')[0]));
      const isOver = end !== undefined && now > Date.parse(end);
      return isOver ? `Node ${node} has had no repairs since ${end}.` : null;
    },
    cure: 'Install a version of Node with long-term support that is maintained.',
  },
  {
    code: 'secret-short',
    severity: 'problem',
    title: 'a secret that is missing, short or no random text',
    wrong({ problems, environment: { auth }, hasUsers, connections }) {
      const isRandom = auth.secret === null || new Set(auth.secret).size >= fewCharacters;
      const isMissing = auth.secret === null && hasUsers && connections.length > 0;
      return [
        ...problems.filter(isTooShort).map(({ message }) => message),
        ...(isRandom ? [] : ['SECRET repeats a few characters, so it can be guessed.']),
        ...(isMissing && !problems.some(({ variable }) => variable === 'SECRET')
          ? ['SECRET is not set, although there are users.']
          : []),
      ];
    },
    cure: 'Take what `openssl rand -hex 32` prints.',
  },
  {
    code: 'secret-file-readable-by-others',
    severity: 'problem',
    title: 'a file with a secret that every user of the machine can read',
    wrong: ({ openFiles }) =>
      openFiles.map((file) => `Every user of this machine can read ${file}, which has a secret.`),
    cure: 'Give the file the mode 600, or put it into a folder of mode 700.',
  },
  {
    code: 'database-without-tls',
    severity: 'problem',
    title: 'a database on another machine, reached without encryption',
    wrong: (facts) =>
      unsafeConnections(facts, 'none').variables.map(
        (variable) => `The connection to the database of ${variable} is not encrypted.`,
      ),
    cure: (facts) => unsafeConnections(facts, 'none').cure,
  },
  {
    code: 'database-certificate-unchecked',
    severity: 'problem',
    title: 'encryption without a look at the certificate of the database',
    wrong: (facts) =>
      unsafeConnections(facts, 'unchecked').variables.map(
        (variable) =>
          `The certificate of the database of ${variable} is not checked, so another server could stand in for it.`,
      ),
    cure: (facts) => unsafeConnections(facts, 'unchecked').cure,
  },
  {
    code: 'public-url-not-https',
    severity: 'problem',
    title: '`PUBLIC_URL` is missing or no https address',
    wrong({ environment: { publicUrl } }) {
      if (publicUrl === null) return 'PUBLIC_URL is not set, so links in mails lead to the address of this machine.';
      return publicUrl.startsWith('https:') ? null : 'PUBLIC_URL is no https address, so passwords travel readable.';
    },
    cure: 'Set PUBLIC_URL to the https address that clients use, and let a proxy speak TLS.',
  },
  {
    code: 'proxy-untrusted',
    severity: 'problem',
    title: '`IP_TRUST_PROXY` is missing, so all clients have the address of the proxy',
    wrong: ({ environment: { auth, publicUrl } }) =>
      auth.trustedProxies.length === 0 && publicUrl?.startsWith('http:') !== true
        ? 'IP_TRUST_PROXY is not set: all clients have the address of the proxy, and share its limits.'
        : null,
    cure: 'Set IP_TRUST_PROXY to the addresses or networks of the proxy.',
  },
  {
    code: 'cors-any-origin-with-credentials',
    severity: 'problem',
    title: '`CORS_ORIGIN=*` together with `CORS_CREDENTIALS`',
    wrong: ({ environment: { cors } }) =>
      cors?.credentials === true && cors.origins.includes('*')
        ? 'Pages of every origin may call the API, and CORS_CREDENTIALS is on.'
        : null,
    cure: 'Name the origins in CORS_ORIGIN, or set CORS_CREDENTIALS=false.',
  },
  {
    code: 'variable-without-effect',
    severity: 'warning',
    title: 'a variable without the one beside which it counts, such as `CORS_ORIGIN` without `CORS_ENABLED`',
    wrong: ({ idle }) => idle,
    cure: 'Set both, or neither.',
  },
  {
    code: 'docs-or-graphiql-on',
    severity: 'warning',
    title: '`DOCS` or `GRAPHIQL` is on',
    wrong: ({ environment: { docs, graphql } }) => [
      ...(docs ? ['DOCS is on: the server shows its documentation to browsers.'] : []),
      ...(graphql.graphiql ? ['GRAPHIQL is on: the server shows a page for queries to browsers.'] : []),
    ],
    cure: 'Remove DOCS and GRAPHIQL.',
  },
  {
    code: 'introspection-on',
    severity: 'warning',
    title: 'GraphQL tells its schema',
    wrong: ({ environment: { graphql }, hasGraphql }) =>
      hasGraphql && graphql.limits.introspection ? 'GraphQL tells every caller the schema of what it may use.' : null,
    cure: 'Set GRAPHQL_INTROSPECTION=false.',
  },
  {
    code: 'rate-limits-off',
    severity: 'warning',
    title: 'requests or sign-ins are not limited',
    wrong: ({ environment: { requestLimits, auth } }) => [
      ...(requestLimits.client === null ? ['One client may send as many requests as it likes.'] : []),
      ...(auth.limits.enabled ? [] : ['Passwords may be tried as often as one likes.']),
    ],
    cure: 'Set RATE_LIMITER_ENABLED=true, and remove RATE_LIMITER_AUTH_ENABLED where it is set.',
  },
  {
    code: 'pool-beyond-server',
    severity: 'problem',
    title: 'more connections in the pools than the database gives',
    wrong({ environment, database, workers }) {
      if (database === null || database.connections === null) return null;
      const requested = workers * (environment.database.poolMax + extraConnections);
      return requested > database.connections
        ? `The server takes up to ${requested} connections, and the database gives it ${database.connections}.`
        : null;
    },
    cure: 'Lower DATABASE_POOL_MAX or the number of processes, or raise the limit of the database.',
  },
  {
    code: 'statement-timeout-none',
    severity: 'problem',
    title: 'statements may run for an hour or longer',
    wrong: ({ environment: { database } }) =>
      Math.max(database.statementTimeout, database.publicStatementTimeout) >= longStatement
        ? 'A statement may run for an hour or longer, and keeps its connection for that time.'
        : null,
    cure: 'Remove DATABASE_STATEMENT_TIMEOUT and DATABASE_PUBLIC_STATEMENT_TIMEOUT, or lower them.',
  },
  {
    code: 'database-embedded',
    severity: 'warning',
    title: 'the embedded database, on which nothing ends a statement',
    wrong: ({ environment, problems }) =>
      environment.database.url === null && !problems.some(({ variable }) => variable === 'DATABASE_URL')
        ? 'Nothing ends a statement on the embedded database, and the server answers no one while one runs.'
        : null,
    cure: 'Set DATABASE_URL.',
  },
  {
    code: 'mail-to-files',
    severity: 'warning',
    title: 'mails become files, because there is no mail server',
    wrong: ({ environment: { mail }, hasUsers }) =>
      hasUsers && mail.smtp === null
        ? 'EMAIL_SMTP_HOST is not set, so invitations and new passwords reach no one.'
        : null,
    cure: 'Set EMAIL_SMTP_HOST and EMAIL_FROM.',
  },
  {
    code: 'uploads-in-state-folder-with-workers',
    severity: 'problem',
    title: 'several processes, and uploads in the folder of state',
    wrong: ({ environment: { files }, workers, hasUsers }) =>
      hasUsers &&
      workers > 1 &&
      files.locations.some((location) => location.driver === 'local' && location.root === null)
        ? 'Several processes keep uploads in .platform/uploads, which processes elsewhere do not see.'
        : null,
    cure: 'Set STORAGE_LOCAL_ROOT to a folder that all processes share, or use a bucket (STORAGE_LOCATIONS).',
  },
  {
    code: 'contract-differs',
    severity: 'problem',
    title: 'generated files of another version',
    wrong({ contract: made }) {
      if (made === null) return 'Nothing is generated yet.';
      return made === contract ? null : `The generated files are made for contract ${made}, and this is ${contract}.`;
    },
    cure: 'Run `platform generate`.',
  },
  {
    code: 'migrations-pending',
    severity: 'problem',
    title: 'migrations that the database lacks',
    wrong: ({ database }) =>
      database !== null && database.pending.length > 0
        ? `The database lacks the migrations ${database.pending.join(', ')}.`
        : null,
    cure: 'Run `platform migrate`.',
  },
  {
    code: 'migrations-unknown',
    severity: 'warning',
    title: 'migrations of the database that its role may not read',
    wrong: ({ database }) => database?.unknown ?? null,
    cure: 'Give the role SELECT on platform_migrations and platform_project_migrations, or on the whole database where these are not there yet.',
  },
];

/** Findings of every doctor that are problems, under codes of their own, of a server that is to be used. */
export const strictFindings: readonly (Pick<Check, 'code' | 'title'> & { readonly check: string })[] = [
  { check: 'superuser', code: 'database-superuser', title: 'a role of the database that may do everything' },
  { check: 'clock', code: 'clock-skew', title: 'clocks of machine and database that differ by more than five seconds' },
];

/** One thing that is looked at before a server is used. */
interface Check {
  /** Stable, lower case with dashes. */
  readonly code: string;
  readonly severity: Finding['severity'];
  /** Condition for people, as a noun phrase; docs/deployment.md prints it. */
  readonly title: string;
  /** Sentences about what is wrong; none where all is well. */
  readonly wrong: (facts: ProductionFacts) => string | null | readonly string[];
  /** Advice, as a whole sentence. */
  readonly cure: string | ((facts: ProductionFacts) => string);
}

function runChecks(checks: readonly Check[], facts: ProductionFacts): readonly Finding[] {
  return checks.flatMap(({ code, severity, wrong, cure }) =>
    [wrong(facts) ?? []]
      .flat()
      .map((message) => ({ check: code, severity, message, advice: typeof cure === 'string' ? cure : cure(facts) })),
  );
}
