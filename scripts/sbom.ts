/**
 * Prints what the published command brings along as a bill of materials, in CycloneDX 1.6 (ECMA-424). It depends on the
 * lock file and the kind of machine alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksumIn, dependenciesOf, type Manifest, manifestIn } from './dependencies.ts';

const root = join(import.meta.dirname, '..');
const command = join(root, 'packages/cli');
const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');

function component(manifest: Manifest) {
  const { name, version, license } = manifest;
  const sum = checksumIn(lock, manifest);
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(typeof license === 'string' && { licenses: [{ expression: license }] }),
    ...(sum !== undefined && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sum, 'base64').toString('hex') }] }),
  };
}

const { name, version } = manifestIn(command);
const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', name, version } },
  components: dependenciesOf(command).map(component),
};
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
