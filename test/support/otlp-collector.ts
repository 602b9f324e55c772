/** A collector of spans: takes what the exporter of OpenTelemetry sends by OTLP over HTTP, as its protocol says. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A value of an attribute. */
export type SpanValue = string | number | boolean | readonly SpanValue[];

/** One span as tests look at it. */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, SpanValue>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly service: SpanValue | undefined;
}

/** A collector that listens. */
export interface Collector {
  readonly spans: readonly CollectedSpan[];
  /** Variables of a server that exports to it. */
  readonly variables: { readonly TRACES_MODULE: string; readonly OTEL_EXPORTER_OTLP_ENDPOINT: string };
  /** All bodies as they came. */
  text(): string;
  /** Gives the spans so far, and forgets them. */
  take(): readonly CollectedSpan[];
  close(): Promise<void>;
}

interface SentValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly SentValue[] };
}

interface KeyValue {
  readonly key: string;
  readonly value: SentValue;
}

interface SentSpan extends Pick<CollectedSpan, 'name' | 'traceId' | 'spanId' | 'parentSpanId'> {
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: CollectedSpan['links'];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface SentSpans {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** Kinds by their number in the protocol. */
const kinds = ['other', 'internal', 'server', 'client'] as const;

/** Starts a collector on a free port. The module that exports to it is that of the page; it is written into the folder. */
export async function startCollector(folder: string): Promise<Collector> {
  const page = await readFile(join(import.meta.dirname, '../../docs/traces.md'), 'utf8');
  const path = join(folder, 'otel.mjs');
  await writeFile(path, /```js\n(\/\/ otel\.mjs\n[^`]*)```/.exec(page)?.[1] ?? '');
  const bodies: string[] = [];
  let spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      const isRight =
        request.method === 'POST' &&
        request.url === '/v1/traces' &&
        request.headers['content-type'] === 'application/json';
      if (isRight) {
        bodies.push(text);
        spans.push(...readSpans(JSON.parse(text)));
      }
      response.writeHead(isRight ? 200 : 400, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    variables: {
      TRACES_MODULE: path,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    },
    get spans() {
      return spans;
    },
    text: () => bodies.join('\n'),
    take() {
      const taken = spans;
      spans = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readSpans({ resourceSpans }: SentSpans): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = valuesOf(resource?.attributes)['service.name'];
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...readSpan(span), service })));
  });
}

function readSpan(span: SentSpan): Omit<CollectedSpan, 'service'> {
  const { name, traceId, spanId, parentSpanId, links = [], status } = span;
  if (!/^[0-9a-f]{32}$/.test(traceId) || !/^[0-9a-f]{16}$/.test(spanId)) throw new Error(`Not a span: ${spanId}`);
  return {
    ...{ name, traceId, spanId, parentSpanId, links },
    kind: kinds[span.kind] ?? 'other',
    attributes: valuesOf(span.attributes),
    failed: status?.code === 2,
    start: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
    end: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
  };
}

function valuesOf(attributes: readonly KeyValue[] = []): CollectedSpan['attributes'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: SentValue): SpanValue {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(readValue);
  return stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue ?? '') : Number(intValue));
}
