/** The environment variables, and what reads them. */
import { type Environment, readEnvironment, type Variables } from '../../packages/runtime/src/environment.ts';
import { code, table } from './markdown.ts';
import { topics } from './variables.ts';

/** Every variable by topic, as a section each. */
export function printVariables(): string {
  return topics
    .map(([topic, variables]) => {
      const rows = variables.map(([name, initial, meaning]) => [
        code(name),
        typeof initial === 'string' ? code(initial) : initial.absent,
        meaning,
      ]);
      return `## ${topic}\n\n${table(['Variable', 'Default', 'Meaning'], rows)}`;
    })
    .join('\n\n');
}

/** Settings under which every variable is read: a provider of each kind, and a bucket. */
const settings: readonly Variables[] = [
  { CORS_ENABLED: 'true', ...provider('openid'), STORAGE_LOCATIONS: 'name', ...bucket() },
  { CORS_ENABLED: 'true', ...provider('oauth2') },
  {},
];

function provider(driver: string): Variables {
  const urls = ['ISSUER', 'AUTHORIZE', 'ACCESS', 'PROFILE'].map((kind) => [
    `AUTH_NAME_${kind}_URL`,
    'https://id.example.com',
  ]);
  return {
    AUTH_PROVIDERS: 'name',
    AUTH_NAME_DRIVER: driver,
    AUTH_NAME_CLIENT_ID: 'shop',
    AUTH_NAME_CLIENT_SECRET: 'secret',
    ...Object.fromEntries(urls),
  };
}

function bucket(): Variables {
  return {
    STORAGE_NAME_DRIVER: 's3',
    STORAGE_NAME_BUCKET: 'files',
    STORAGE_NAME_KEY: 'key',
    STORAGE_NAME_SECRET: 'secret',
  };
}

/** The names that the server reads, those of providers and places with `<NAME>` in them. */
export function readNames(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const variables of settings) {
    readEnvironment(
      new Proxy(variables, {
        get: (target, name) => noted(names, name) && Reflect.get(target, name),
        getOwnPropertyDescriptor: (target, name) =>
          noted(names, name) ? Reflect.getOwnPropertyDescriptor(target, name) : undefined,
      }),
    );
  }
  // A file stands for every variable, which the page says once.
  return new Set([...names].filter((name) => !(name.endsWith('_FILE') && names.has(name.slice(0, -5)))));
}

function noted(names: Set<string>, name: string | symbol): boolean {
  names.add(String(name).replace(/^(AUTH|STORAGE)_(?:NAME|LOCAL)_/, '$1_<NAME>_'));
  return true;
}

/** True when setting the variable to a text changes nothing, in every setting that leaves it open. */
export function isDefault(name: string, text: string): boolean {
  const variable = name.replace('<NAME>', 'NAME');
  const open = settings.filter((variables) => !(variable in variables));
  return open.every((variables) => read({ ...variables, [variable]: text }) === read(variables));
}

function read(variables: Variables): string {
  const reading = readEnvironment(variables);
  if (!reading.ok) throw new Error(reading.problems.map(({ message }) => message).join('\n'));
  return JSON.stringify(reading.environment satisfies Environment, (_, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );
}
