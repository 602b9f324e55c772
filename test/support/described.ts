/** What an OpenAPI document says of bodies: a server made of it that does nothing but check them. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fastify from 'fastify';

/** Asks a document about bodies. */
export interface Described {
  /** Why the document has no such request; undefined when it has. `path` may have a query. */
  refusal(method: string, path: string, body: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: unknown } };
}

interface Operation {
  /** The body, or the component that collections with such a key share. */
  readonly requestBody?: Body | { readonly $ref: string };
}

/** The parts of a document that matter here. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly requestBodies?: Readonly<Record<string, Body>> };
}

const methods = ['post', 'patch', 'delete'] as const;

/** Reads a document. */
export async function describeBodies({ paths, components }: Document): Promise<Described> {
  // Documents of OpenAPI 3.1 are JSON Schema of 2020, which Fastify's own validator is not.
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema({ $id: 'document', components });
  const server = fastify();
  // A body is compiled when a test asks for it: a document has hundreds.
  server.setValidatorCompiler<object>(({ schema }) => {
    let validate: ValidateFunction | undefined;
    return (body) => {
      validate ??= ajv.compile(schema);
      return validate(body) ? true : { error: validate.errors ?? [] };
    };
  });
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of methods) {
      const body = operations[method]?.requestBody;
      const described = body && '$ref' in body ? components.requestBodies?.[body.$ref.split('/').at(-1) ?? ''] : body;
      const schema = described?.content['application/json'].schema;
      if (schema === undefined) continue;
      const checked: unknown = JSON.parse(
        JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'),
      );
      server.route({ method, url: path.replace('{key}', ':key'), schema: { body: checked }, handler: async () => '' });
    }
  }
  await server.ready();
  return {
    async refusal(method, path, body) {
      const headers = { 'content-type': 'application/json' };
      const payload = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await server.inject({ method: methodOf(method), url: path, headers, payload });
      return answer.statusCode === 200 ? undefined : answer.body;
    },
    close: () => server.close(),
  };
}

function methodOf(name: string): 'POST' | 'PATCH' | 'DELETE' {
  return name === 'POST' || name === 'PATCH' ? name : 'DELETE';
}
