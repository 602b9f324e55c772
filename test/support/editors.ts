/** Editors as people write in them: the language services of the TypeScript compilers, over one file of a project. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { compilers } from './compilers.ts';

/** What an editor tells of a text; a `|` in it is where the cursor is. */
export interface Editor {
  /** Names that are offered at the cursor, sorted. */
  completions(text: string): Promise<readonly string[]>;
  /** What is wrong, each as `text that is marked: message`. */
  complaints(text: string): Promise<readonly string[]>;
  /** What is shown for the name at the cursor. */
  hover(text: string): Promise<string>;
  close(): Promise<void>;
}

/** The editors, by the version of their TypeScript. `file` lies beside the `tsconfig.json` of its project. */
export const editors = { '5.9': openService, '7.0': openServer } as const;

/** The service that TypeScript 5 has as a library. */
async function openService(file: string): Promise<Editor> {
  const folder = dirname(file);
  const { config } = ts.readConfigFile(`${folder}/tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  let contents = '';
  let version = 0;
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({ ...options, skipLibCheck: true }),
    getScriptFileNames: () => [file],
    getScriptVersion: (name) => (name === file ? String(version) : '1'),
    getScriptSnapshot(name) {
      const text = name === file ? contents : ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
  });
  const say = (text: string): number => {
    const { whole, cursor } = withoutCursor(text);
    contents = whole;
    version += 1;
    return cursor;
  };
  return {
    async completions(text) {
      const { entries = [] } = service.getCompletionsAtPosition(file, say(text), {}) ?? {};
      return entries.map(({ name }) => name).sort();
    },
    async complaints(text) {
      say(text);
      return service.getSemanticDiagnostics(file).map(({ start = 0, length = 0, messageText }) => {
        return `${contents.slice(start, start + length)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      });
    },
    async hover(text) {
      const { documentation = [] } = service.getQuickInfoAtPosition(file, say(text)) ?? {};
      return documentation.map((part) => part.text).join('');
    },
    close: async () => service.dispose(),
  };
}

/** Of an editor that shows what it is told. */
const capabilities = { textDocument: { hover: { contentFormat: ['markdown'] } } };

/** The language server that TypeScript 7 is. Source: Language Server Protocol 3.17. */
async function openServer(file: string): Promise<Editor> {
  const { ask, tell, close } = startServer();
  const uri = pathToFileURL(file).href;
  await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(dirname(file)).href, capabilities });
  tell('initialized', {});
  tell('textDocument/didOpen', { textDocument: { uri, languageId: 'typescript', version: 1, text: '' } });
  let version = 1;
  const say = (text: string) => {
    const { whole, cursor } = withoutCursor(text);
    version += 1;
    tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text: whole }] });
    const lines = whole.slice(0, cursor).split('\n');
    return { textDocument: { uri }, position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 } };
  };
  return {
    async completions(text) {
      const found: { readonly items?: readonly ServerCompletion[] } | null = await ask(
        'textDocument/completion',
        say(text),
      );
      return (found?.items ?? []).map(({ label, filterText = label }) => filterText).sort();
    },
    async complaints(text) {
      const lines = text.split('\n');
      const { items }: { readonly items: readonly ServerComplaint[] } = await ask('textDocument/diagnostic', say(text));
      return items
        .filter(({ severity }) => severity === 1)
        .map(({ message, range: { start, end } }) => {
          return `${lines[start.line]?.slice(start.character, end.character)}: ${message}`;
        });
    },
    async hover(text) {
      const found: { readonly contents: { readonly value: string } } | null = await ask(
        'textDocument/hover',
        say(text),
      );
      return found?.contents.value ?? '';
    },
    close,
  };
}

interface Place {
  readonly line: number;
  readonly character: number;
}

interface ServerCompletion {
  /** As it is shown: with a question mark where it may be left out. */
  readonly label: string;
  /** The name itself where it is shown otherwise. */
  readonly filterText?: string;
}

interface ServerComplaint {
  /** 1 is an error. */
  readonly severity: number;
  readonly message: string;
  readonly range: { readonly start: Place; readonly end: Place };
}

/** A message of the protocol: a question, an answer, or what is only told. */
interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

function startServer() {
  const server = spawn(process.execPath, [compilers['7.0'], '--lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (message: Message) => void>();
  let asked = 0;
  let unread = Buffer.alloc(0);

  function send(message: Message): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  function receive(message: Message): void {
    if (message.method === undefined) waiting.get(Number(message.id))?.(message);
    // What it wants of an editor does not matter, but it waits for an answer.
    else if (message.id !== undefined) send({ id: message.id, result: null });
  }

  server.stdout.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const head = unread.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(unread.subarray(0, Math.max(head, 0)).toString())?.[1]);
      const end = head + 4 + length;
      if (head === -1 || unread.length < end) return;
      const message: Message = JSON.parse(unread.subarray(head + 4, end).toString());
      unread = unread.subarray(end);
      receive(message);
    }
  });

  return {
    ask<Result>(method: string, params: unknown): Promise<Result> {
      asked += 1;
      const id = asked;
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error === undefined) resolve(JSON.parse(JSON.stringify(result)));
          else reject(new Error(`${method}: ${error.message}`));
        });
        send({ id, method, params });
      });
    },
    tell: (method: string, params: unknown): void => send({ method, params }),
    async close(): Promise<void> {
      server.kill();
    },
  };
}

function withoutCursor(text: string): { readonly whole: string; readonly cursor: number } {
  const cursor = text.indexOf('|');
  return cursor === -1 ? { whole: text, cursor: 0 } : { whole: text.slice(0, cursor) + text.slice(cursor + 1), cursor };
}
