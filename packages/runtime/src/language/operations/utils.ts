/** Operations beside reading and writing. Source: API specification, section 13. */
import { commonFailures } from './failures.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = [
  'Unauthorized',
  'RequestsExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'Forbidden',
] as const;
const withBody = [...failures, 'InvalidBody', 'UnsupportedMediaType'] as const;

const hashedSchema = { type: 'string', maxBytes: 1_024 } as const satisfies ValueSchema;

const keySchema = {
  type: ['string', 'integer'],
  minLength: 1,
  description: 'A key, in the form of a path.',
  graphql: 'ID!',
} as const satisfies ValueSchema;

/** Utilities. */
export const utilResource = {
  tag: 'utils',
  installed: false,
  operations: {
    utilsRandomString: {
      route: 'GET /utils/random/string',
      summary: 'Make a random text',
      description: 'Letters, digits, `-` and `_`, 6 bits of randomness each.',
      access: 'anyone',
      input: { 'length?': { type: 'integer', minimum: 1, maximum: 500, default: 32 } },
      output: { description: 'The text.', data: { type: 'string' } },
      failures: [...commonFailures, 'InvalidToken'],
      graphql: { mutation: 'utils_random_string' },
      client: 'utils.random.string(length)',
    },
    utilsHashGenerate: {
      route: 'POST /utils/hash/generate',
      summary: 'Hash a text',
      description: 'By Argon2id. At most 1,024 bytes, for who is signed in.',
      access: 'signed-in',
      input: { string: hashedSchema },
      output: { description: 'The hash.', data: { type: 'string' } },
      failures: withBody,
      graphql: { mutation: 'utils_hash_generate' },
      client: 'utils.hash.generate(string)',
    },
    utilsHashVerify: {
      route: 'POST /utils/hash/verify',
      summary: 'Compare a text with a hash',
      description: 'At most 1,024 bytes, for who is signed in.',
      access: 'signed-in',
      input: { string: hashedSchema, hash: { type: 'string', maxLength: 512 } },
      output: { description: 'Whether it is the text that was hashed.', data: { type: 'boolean' } },
      failures: withBody,
      graphql: { mutation: 'utils_hash_verify' },
      client: 'utils.hash.verify(string, hash)',
    },
    utilsSort: {
      route: 'POST /utils/sort/{collection}',
      summary: 'Move an item',
      description: 'Gives it the position of another one and shifts those between them.',
      access: 'anyone',
      input: { collection: { type: 'string', collections: 'sortable' }, item: keySchema, to: keySchema },
      output: { status: 200, description: 'It is moved.' },
      keyed: true,
      failures: [...failures, 'InvalidWrite', 'UnsupportedMediaType', 'Unprocessable'],
      graphql: { mutation: 'utils_sort' },
      client: 'utils.sort(collection, item, to)',
    },
    utilsRevert: {
      route: 'POST /utils/revert/{revision}',
      summary: 'Revert an item',
      description: 'Writes back what a revision holds, as an update by the caller.',
      access: { action: 'read', collection: 'platform_revisions' },
      input: { revision: { type: 'integer', description: 'Key of the revision.', graphql: 'ID!' } },
      output: { description: 'It is as it was then.' },
      keyed: true,
      failures: [...failures, 'InvalidWrite', 'Unprocessable'],
      graphql: { mutation: 'utils_revert' },
      client: 'utils.revert(revision)',
    },
    utilsCacheClear: {
      route: 'POST /utils/cache/clear',
      summary: 'Forget what is remembered',
      description: 'Accounts are looked up again.',
      access: 'administrator',
      output: { status: 200, description: 'Nothing is remembered.' },
      keyed: true,
      failures: [...failures, 'InvalidWrite', 'UnsupportedMediaType', 'RouteNotFound', 'Unprocessable'],
      graphql: { mutation: 'utils_cache_clear', type: 'Void' },
    },
  },
} as const satisfies Resource;
