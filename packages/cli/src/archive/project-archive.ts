/**
 * Results that compilations of a project keep for later processes, in `.platform/cache`: texts, by digests of their
 * inputs. The cache only saves time: a damaged entry, or one of another version of the compiler, counts as absent.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive, Archived, CompilePart } from '@tablewright/compiler';
import { partOfMaker } from '@tablewright/compiler/files';
import { removeLeftovers } from '../leftovers.ts';
import { type Entry, isLayerOf, readLayer, writeLayer } from './layer.ts';
import { markOfCompiler } from './mark.ts';

/** An archive with a place on disk. */
export interface ProjectArchive extends Archive {
  /** Writes new results, and removes those that were not used since it was opened. */
  save(): Promise<void>;
}

/** Layers are put together when there are more. */
const mostLayers = 8;

/**
 * Opens the cache in a folder, which need not exist. Results for descriptions have a cache of their own, so that two
 * threads can each work with theirs.
 */
export async function openArchive(folder: string, part?: CompilePart): Promise<ProjectArchive> {
  const mark = markOfCompiler();
  const [described, others] = await Promise.all([
    part === 'others' ? nothing : openLayers(join(folder, descriptions), mark),
    part === 'descriptions' ? nothing : openLayers(folder, mark),
  ]);
  const archiveOf = (maker: string): ProjectArchive => (partOfMaker(maker) === 'descriptions' ? described : others);
  return {
    find: (maker, digest) => archiveOf(maker).find(maker, digest),
    keep: (maker, digest, made) => archiveOf(maker).keep(maker, digest, made),
    save: async () => void (await Promise.all([described.save(), others.save()])),
  };
}

/** True if the cache has entries that this compiler can use. */
export async function isArchived(folder: string): Promise<boolean> {
  const descriptionFolder = join(folder, descriptions);
  const [name] = await layersIn(descriptionFolder);
  return name !== undefined && (await isLayerOf(descriptionFolder, name, markOfCompiler()));
}

/** The folder of results for descriptions. */
const descriptions = 'descriptions';

/** Empty cache, in place of the one that another thread keeps. */
const nothing: ProjectArchive = { find: () => [], keep: () => undefined, save: async () => undefined };

async function openLayers(folder: string, mark: string): Promise<ProjectArchive> {
  const names = await layersIn(folder);
  const layers = await Promise.all(names.map((name) => readLayer(folder, name, mark)));
  const stored = layers.flatMap((layer) => layer?.entries ?? []);
  const byDigest = Map.groupBy(stored, keyOf);
  const used = new Map<Archived, Entry>();
  return {
    find: (maker, digest) => byDigest.get(keyOf({ maker, digest })) ?? [],
    keep(maker, digest, made) {
      used.set(made, isEntry(made) ? made : { maker, digest, ...made });
    },
    async save() {
      const old = new Set<Entry>(stored);
      const entries = [...used.values()];
      const fresh = entries.filter((entry) => !old.has(entry));
      const stale = layers.includes(null) || stored.length > 2 * (entries.length - fresh.length);
      if (fresh.length === 0 && !stale) return;
      await mkdir(folder, { recursive: true });
      await removeLeftovers(folder);
      // These files belong to this machine, regardless of the project's rules for its other files.
      await writeFile(join(folder, '.gitignore'), '*\n');
      const whole = stale || layers.length >= mostLayers || fresh.length > stored.length / 4;
      await writeLayer(folder, `${randomUUID()}.layer`, whole ? entries : fresh, mark);
      if (whole) await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
    },
  };
}

/** The names of layers; none where there is no such folder. */
async function layersIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.layer'));
}

function isEntry(made: Archived): made is Entry {
  return 'maker' in made;
}

/** One input can have several results, made under different circumstances. */
function keyOf({ maker, digest }: Pick<Entry, 'maker' | 'digest'>): string {
  return `${maker} ${digest}`;
}
