import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from './index.ts';
import { blogSchema } from './testing/blog.ts';
import { hostileSchema } from './testing/hostile.ts';

const t = '/work/main/templates';
const templates = new Map(readdirSync(t).map((n) => [n, readFileSync(join(t, n), 'utf8')]));
const s = process.argv[2]
  ? JSON.parse(readFileSync(process.argv[2], 'utf8'))
  : process.env.H
    ? hostileSchema()
    : blogSchema();
const t0 = performance.now();
const r = compile(s, { templates });
console.log(r.diagnostics, r.summary, performance.now() - t0);
const out = process.argv[3] ?? '/tmp/c1/out';
rmSync(out, { recursive: true, force: true });
for (const f of r.files) {
  mkdirSync(dirname(join(out, f.path)), { recursive: true });
  writeFileSync(join(out, f.path), f.contents);
}
