/**
 * The packages of the platform as one bundle, which commands and servers of tests load in the place of the sources. Finding
 * a module costs Node more than running it, and there are a thousand: a command takes a third less. The bundle is made of
 * the sources when a run starts. Tests that start the command by its file, as users do, run the sources still.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { Visitor } from 'rolldown/utils';
import { bundleVariable } from './bundled.ts';
import { copyingModule } from './embedded.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Sources that are started as programs or threads, beside those that packages export. */
const programs = [
  'cli/src/main.ts',
  'cli/src/command-line.ts',
  'cli/src/dev/type-worker.ts',
  'cli/src/output/type-documents-worker.ts',
  'cli/src/recompile/worker.ts',
  'runtime/src/files/media/worker.ts',
];

/** Has the processes of this run use a bundle of the sources as they are, which is made unless a former run made the same. */
export async function makeBundle(): Promise<void> {
  const parent = join(root, '.tmp', 'bundles');
  const folder = join(parent, stamp());
  process.env[bundleVariable] = folder;
  if (existsSync(folder)) return;
  mkdirSync(parent, { recursive: true });
  removeOld(parent);
  const made = mkdtempSync(`${folder}-`);
  await write(made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another run may have made the same meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(made, { recursive: true });
  }
}

/** Differs where a bundle would. */
function stamp(): string {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)).toString() + copyingModule());
  const files = globSync(['packages/*/src/**/*.ts', 'packages/*/package.json', 'pnpm-lock.yaml'], { cwd: root });
  for (const path of files.sort()) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex').slice(0, 16);
}

/** Removes bundles that are older than any run. */
function removeOld(parent: string): void {
  for (const path of globSync(join(parent, '*'))) {
    if (Date.now() - statSync(path).mtimeMs > 6 * 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}

/** Paths of the sources that are imported by name or started, by the names of their modules in the bundle. */
function entries(): Readonly<Record<string, string>> {
  const exported = globSync('packages/*/package.json', { cwd: root }).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const { exports = {} }: { readonly exports?: Readonly<Record<string, unknown>> } = JSON.parse(text);
    return Object.values(exports).flatMap((file) =>
      typeof file === 'string' && file.endsWith('.ts') ? [join(dirname(path), file)] : [],
    );
  });
  const paths = [...exported, ...programs.map((path) => join('packages', path))];
  return Object.fromEntries(paths.map((path) => [relative('packages', path).slice(0, -'.ts'.length), path]));
}

async function write(folder: string): Promise<void> {
  const input = entries();
  const bundle = await rolldown({ cwd: root, input, platform: 'node', plugins: [inPlace] });
  await bundle.write({ dir: folder, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
  await bundle.close();
  writeFileSync(join(folder, 'pglite.mjs'), copyingModule());
  writeFileSync(join(folder, 'compile-once.mjs'), compileOnce);
  const pairs = Object.entries(input).map(([name, path]) => [pathToFileURL(join(root, path)).href, `./${name}.js`]);
  writeFileSync(join(folder, 'preload.mjs'), preload(JSON.stringify(pairs)));
}

/**
 * Has WebAssembly be compiled once, and only what is called: see `bundledFor`. An option of Node would be none of
 * NODE_OPTIONS.
 */
const compileOnce = `import { setFlagsFromString } from 'node:v8';
for (const flag of ['liftoff-only', 'no-wasm-tier-up', 'no-wasm-dynamic-tiering', 'wasm-lazy-compilation', 'wasm-lazy-validation']) {
  setFlagsFromString('--' + flag);
}
`;

/**
 * Leads imports of an entry to its module in the bundle, also those of a copy that the sample is started from. Where modules
 * of the bundle name a package they are led to what the sources would find.
 */
const preload = (pairs: string): string => `import * as node from 'node:module';
const modules = new Map(${pairs}.map(([source, file]) => [source, new URL(file, import.meta.url).href]));
const folder = new URL('.', import.meta.url).href;
const copying = new URL('pglite.mjs', folder).href;
const repository = ${JSON.stringify(`${pathToFileURL(root).href}/`)};
// Older versions of Node have none; they only start the one that is installed.
node.registerHooks?.({
  resolve(specifier, context, next) {
    // Modules of the bundle lie where they say: Node would ask the file system about each.
    if (/^\\.\\.?\\//.test(specifier) && context.parentURL?.startsWith(folder)) {
      return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
    }
    if (specifier === '@electric-sql/pglite' && context.parentURL !== copying) {
      return { url: copying, format: 'module', shortCircuit: true };
    }
    if (/^[@a-z][^:]*$/.test(specifier) && context.parentURL?.startsWith(folder)) return locate(specifier, context, next);
    const resolved = next(specifier, context);
    const [copy] = /^file:.*\\/\\.tmp\\/sample-[^/]+\\//.exec(resolved.url) ?? [];
    if (copy !== undefined) globalThis.copyOfRepository = copy;
    const url = modules.get(copy === undefined ? resolved.url : repository + resolved.url.slice(copy.length));
    return url === undefined ? resolved : { url, format: 'module', shortCircuit: true };
  },
});
function locate(specifier, context, next) {
  let reason;
  for (const parentURL of modules.keys()) {
    try {
      return next(specifier, { ...context, parentURL });
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}
`;

/** Packages of others that lie in the bundle with all that they import: most files of a start are theirs. */
const packed = /^(?:commander|fastify|handlebars|jsonwebtoken|pg|yaml)$/;

/** Has the cost of passwords be that of `cheapPasswords`, unless a test says otherwise. */
function withCheapPasswords(code: string): string {
  const usual = 'memory: 19_456';
  if (!code.includes(usual)) throw new Error(`The cost of passwords is not written as ${usual} any more.`);
  return code.replace(usual, 'get memory() { return Number(process.env.TEST_PASSWORD_MEMORY ?? 19_456); }');
}

/** Code that gives the address of a source: in the repository, or in the copy that the process was started from. */
function placeOf(path: string): string {
  const repository = JSON.stringify(`${pathToFileURL(root).href}/`);
  return `((globalThis.copyOfRepository ?? ${repository}) + ${JSON.stringify(relative(root, path))})`;
}

/** Other packages are imported from where they are, and each module keeps the place that its source has. */
const inPlace: Plugin = {
  name: 'in place',
  async resolveId(specifier, importer, options) {
    if (importer === undefined || /^(?:\.|node:)/.test(specifier)) return null;
    const resolved = await this.resolve(specifier, importer, { ...options, skipSelf: true });
    if (resolved === null) return { id: specifier, external: true };
    const isOwn = resolved.id.startsWith(join(root, 'packages')) && !resolved.id.includes('node_modules');
    const isPacked = importer.includes('node_modules') || (packed.test(specifier) && options.kind !== 'dynamic-import');
    if (isOwn || resolved.external || isPacked) return resolved;
    // Packages that may be missing are asked for by their names.
    const id = options.kind === 'dynamic-import' ? specifier : pathToFileURL(resolved.id).href;
    return { id, external: true };
  },
  transform(code, id) {
    if (id === join(root, 'packages/runtime/src/passwords/passwords.ts')) return withCheapPasswords(code);
    if (!code.includes('import.meta')) return null;
    const found: { readonly start: number; readonly end: number; readonly value: string }[] = [];
    new Visitor({
      MemberExpression({ start, end, object, property }) {
        if (object.type !== 'MetaProperty' || property.type !== 'Identifier') return;
        if (property.name === 'url') found.push({ start, end, value: placeOf(id) });
        if (property.name === 'dirname') found.push({ start, end, value: JSON.stringify(dirname(id)) });
      },
    }).visit(this.parse(code, { lang: 'ts' }));
    return found.reduceRight((text, { start, end, value }) => text.slice(0, start) + value + text.slice(end), code);
  },
};
