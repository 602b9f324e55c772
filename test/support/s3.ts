/** A server that speaks the protocol of S3, in a process of its own; its objects lie in a folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A running server with one bucket. */
export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  /** Who asks; the server compares signatures. */
  readonly key: string;
  readonly secret: string;
  /** Names of all objects. */
  objects(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const bucket = 'uploads';

/** Ends with its standard input, so that none outlives its run. */
const script = `const S3rver = require('@20minutes/s3rver');
const [directory] = process.argv.slice(1);
const options = { port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: '${bucket}' }] };
new S3rver(options).run().then((address) => console.log(address.port));
process.stdin.on('end', () => process.exit()).resume();`;

/** Starts one whose objects lie in a folder that exists. */
export async function startS3(folder: string): Promise<S3Server> {
  const server = spawn(process.execPath, ['-e', script, folder], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  const [port] = await once(createInterface({ input: server.stdout }), 'line');
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    key: 'S3RVER',
    secret: 'S3RVER',
    async objects() {
      const names = await readdir(`${folder}/${bucket}`, { recursive: true });
      return names
        .filter((name) => name.endsWith('._S3rver_object'))
        .map((name) => name.replace(/\._S3rver_object$/, ''));
    },
    async stop() {
      server.stdin.end();
      await exited;
    },
  };
}
