/**
 * Results that compilations of a project keep for later processes, in `.platform/cache`: texts, by digests of their
 * inputs. The cache only saves time: a damaged entry, or one of another version of the compiler, counts as absent.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CachedResult, CompilePart, DiskCache } from '@tablewright/compiler';
import { partOfGenerator } from '@tablewright/compiler/files';
import { removeLeftovers } from '../output/leftovers.ts';
import { type Entry, isCacheFileOf, readCacheFile, writeCacheFile } from './cache-file.ts';
import { compilerStamp } from './compiler-stamp.ts';

/** A cache with a place on disk. */
export interface ProjectCache extends DiskCache {
  /** Writes new results, and removes those that were not used since it was opened. */
  save(): Promise<void>;
}

/** Cache files are put together when there are more. */
const maxCacheFiles = 8;

/**
 * Opens the cache in a folder, which need not exist. Results for descriptions have a cache of their own, so that two
 * threads can each work with theirs.
 */
export async function openCache(folder: string, part?: CompilePart): Promise<ProjectCache> {
  const stamp = compilerStamp();
  const [described, others] = await Promise.all([
    part === 'others' ? nothing : openCacheFiles(join(folder, descriptions), stamp),
    part === 'descriptions' ? nothing : openCacheFiles(folder, stamp),
  ]);
  const cacheOf = (generator: string): ProjectCache =>
    partOfGenerator(generator) === 'descriptions' ? described : others;
  return {
    find: (generator, digest) => cacheOf(generator).find(generator, digest),
    keep: (generator, digest, made) => cacheOf(generator).keep(generator, digest, made),
    save: async () => void (await Promise.all([described.save(), others.save()])),
  };
}

/** True if the cache has entries that this compiler can use. */
export async function isCached(folder: string): Promise<boolean> {
  const descriptionFolder = join(folder, descriptions);
  const [name] = await cacheFilesIn(descriptionFolder);
  return name !== undefined && (await isCacheFileOf(descriptionFolder, name, compilerStamp()));
}

/** The folder of results for descriptions. */
const descriptions = 'descriptions';

/** Empty cache, in place of the one that another thread keeps. */
const nothing: ProjectCache = { find: () => [], keep: () => undefined, save: async () => undefined };

async function openCacheFiles(folder: string, stamp: string): Promise<ProjectCache> {
  const names = await cacheFilesIn(folder);
  const cacheFiles = await Promise.all(names.map((name) => readCacheFile(folder, name, stamp)));
  const stored = cacheFiles.flatMap((cacheFile) => cacheFile?.entries ?? []);
  const byDigest = Map.groupBy(stored, keyOf);
  const used = new Map<CachedResult, Entry>();
  return {
    find: (generator, digest) => byDigest.get(keyOf({ generator, digest })) ?? [],
    keep(generator, digest, made) {
      used.set(made, isEntry(made) ? made : { generator, digest, ...made });
    },
    async save() {
      const old = new Set<Entry>(stored);
      const entries = [...used.values()];
      const fresh = entries.filter((entry) => !old.has(entry));
      const stale = cacheFiles.includes(null) || stored.length > 2 * (entries.length - fresh.length);
      if (fresh.length === 0 && !stale) return;
      await mkdir(folder, { recursive: true });
      await removeLeftovers(folder);
      // These files belong to this machine, regardless of the project's rules for its other files.
      await writeFile(join(folder, '.gitignore'), '*\n');
      const whole = stale || cacheFiles.length >= maxCacheFiles || fresh.length > stored.length / 4;
      await writeCacheFile(folder, `${randomUUID()}.layer`, whole ? entries : fresh, stamp);
      if (whole) await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
    },
  };
}

/** The names of cache files; none where there is no such folder. */
async function cacheFilesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.layer'));
}

function isEntry(made: CachedResult): made is Entry {
  return 'generator' in made;
}

/** One input can have several results, made under different circumstances. */
function keyOf({ generator, digest }: Pick<Entry, 'generator' | 'digest'>): string {
  return `${generator} ${digest}`;
}
