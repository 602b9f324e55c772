import { expect, it } from 'vitest';
import { serverOfFamily } from '../dialects/index.ts';
import { systemMigrations } from './migrate.ts';

/** Checksums that databases hold, by migration: of PostgreSQL, of MySQL and MariaDB. A release adds lines, and changes none. */
const released: Readonly<Record<string, readonly [postgres: string, mysql: string]>> = {
  accounts: [
    '8f5e2cda4a49566c8c4fd48f6b6aa405e4b0f421457185efdbb83a235070fc4d',
    'fc35bf818ac835c616facad97a995737c1e8e87cefde3d656d5e2c892cf315cc',
  ],
  sessions: [
    'fd8653dcd7cf08610f68f14e013a9a1f95ba4ad570647873a3d2249e31d8e34d',
    '5fa2ea27b756b305774544143eb0292e9c0b4cb1fe3d51e30dddd28b45d25819',
  ],
  activity: [
    'b466246b4ae87fe92be01b13e90fef0ef1a6715e4fa026da620f537e783ecea5',
    'baee5107947c0a07aa34658c8845657ce8d49347302bbbfaa7dfaf3b3af2e108',
  ],
  model: [
    'f24ce195115e39583993b315acedc56e696851b7d3a23698e9b8fc353694d75d',
    'a5912cc29684c77863d8d6e0476c240edd182cc850be3f23c405db8c9e3f1bac',
  ],
  requests: [
    'b43b8250c224285d299195fa96c58be3204dc138c651843d03b08adbc9a87be0',
    '4b0162be34c4fdc50245a9fd09811b4ad2db904bfe45272fe757b6e987574023',
  ],
  files: [
    '8e56c49ff2314b5a16e848ee753128ba224c5bcc005d002a212a724e99f0a53f',
    '33312b9587700baf72018dce62f274b285b9e4f01d7610c9ab5b09c2a92a92d2',
  ],
  'product-name': [
    'a5b0e90fc27b63354dbad863792ec7059ae0547d28a730caca7c24c59d78a0c9',
    'f0ecbdfac9d37882b9a924f253f5fdeb7c98962139034f9ea81b7427afe43010',
  ],
  'activity-actions': [
    '45d6a41ca7a5a925709d33ea3ab1ed188a81c9d07cf6554d82dacbac5bcbd55f',
    'bc52c34f7bb0559d512d3189ddf697b2ffe26fa90b4af1f7ffe7626459d9abd9',
  ],
};

it('prints the texts that were released', () => {
  const printed = systemMigrations.map((migration) => [
    migration.name,
    [serverOfFamily('postgres').checksumOf(migration), serverOfFamily('mysql').checksumOf(migration)],
  ]);
  expect(Object.fromEntries(printed)).toEqual(released);
});
