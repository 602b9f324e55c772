import { ByteWriter, giveBack } from '../json/byte-writer.ts';
import type { ShapeField } from '../json/shape.ts';
import { createTranscoder } from '../json/transcode.ts';
import type { Answer, AnswerWriter } from '../query/answer.ts';
import type { ExportFormat } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { createCsv, type FileFormat, xml, yaml } from './formats.ts';
import { readRawJson } from './raw-json.ts';

/** Rows that go into the file as the transcoder writes them, with these bytes around and between. */
interface Framed {
  readonly start: Buffer;
  readonly between: Buffer;
  readonly behind: Buffer;
  readonly end: Buffer;
}

/** Prepares how the rows of an exported plan become a file; once per plan. */
export function createExportWriter(plan: ReadPlan, format: ExportFormat): AnswerWriter {
  const transcode = createTranscoder(plan.fields);
  const framed = framing[format];
  if (framed !== undefined) return () => createFramed(framed, transcode);
  const file = fileFormat(format, plan.fields);
  return () => createFile(file, transcode);
}

const bytes = (text: string): Buffer => Buffer.from(text);

const framing: Readonly<Partial<Record<ExportFormat, Framed>>> = {
  json: { start: bytes('['), between: bytes(','), behind: bytes(''), end: bytes(']') },
  ndjson: { start: bytes(''), between: bytes(''), behind: bytes('\n'), end: bytes('') },
};

function fileFormat(format: ExportFormat, fields: readonly ShapeField[]): FileFormat {
  if (format === 'csv') return createCsv(fields);
  return format === 'xml' ? xml : yaml;
}

type Transcode = ReturnType<typeof createTranscoder>;

/** Writes rows with the bytes around and between them. */
function createFramed({ start, between, behind, end }: Framed, transcode: Transcode): Answer {
  const put = (out: ByteWriter, items: number, buffer: Buffer, offset: number): void => {
    if (items > 0) out.append(between);
    transcode(buffer, offset, out);
    out.append(behind);
  };
  return createAnswer(start, put, () => end);
}

function createFile(format: FileFormat, transcode: Transcode): Answer {
  const scratch = new ByteWriter();
  const put = (out: ByteWriter, _items: number, buffer: Buffer, offset: number): void => {
    transcode(buffer, offset, scratch);
    const json = scratch.takeBytes();
    const text = json.toString();
    giveBack(json);
    out.appendText(format.row(readRawJson(text)));
  };
  return createAnswer(bytes(format.start), put, (items) => bytes(format.end(items)));
}

function createAnswer(
  start: Buffer,
  put: (out: ByteWriter, items: number, buffer: Buffer, offset: number) => void,
  end: (items: number) => Buffer,
): Answer {
  const out = new ByteWriter();
  let items = 0;
  let started = false;
  let ended: Buffer | undefined;
  function begin(): void {
    if (!started) out.append(start);
    started = true;
  }
  return {
    get items() {
      return items;
    },
    row(buffer, offset) {
      begin();
      put(out, items++, buffer, offset);
    },
    read: () => out.takeBytes(),
    end() {
      if (ended !== undefined) return ended;
      begin();
      out.append(end(items));
      ended = out.takeBytes();
      return ended;
    },
  };
}
