/** The package managers that projects are tried with, each as its users call it. */

/** Commands and settings of a package manager. */
export interface Manager {
  readonly name: string;
  /** Installs what package.json names. */
  readonly install: readonly string[];
  /** Comes before a command that the project has installed. */
  readonly run: readonly string[];
  /** Fails where a dependency is missing, unmet or of no use. */
  readonly verify: readonly string[];
  /** Settings of a project, by file. */
  readonly files: Readonly<Record<string, string>>;
  /** Makes a workspace of the folders below `apps`: files of its top. */
  readonly workspace: Readonly<Record<string, string>>;
  /** Installs without scripts of packages. */
  readonly withoutScripts: readonly string[];
}

const workspaces = JSON.stringify({ name: 'company', private: true, workspaces: ['apps/*'] });

export const npm: Manager = {
  name: 'npm',
  install: ['npm', 'install'],
  run: ['npx', '--no'],
  verify: ['npm', 'ls', '--all'],
  files: {},
  workspace: { 'package.json': workspaces },
  withoutScripts: ['npm', 'install', '--ignore-scripts'],
};

export const pnpm: Manager = {
  name: 'pnpm',
  install: ['pnpm', 'install'],
  run: ['pnpm', 'exec'],
  verify: ['pnpm', 'install', '--frozen-lockfile', '--strict-peer-dependencies'],
  files: {},
  workspace: {
    'package.json': JSON.stringify({ name: 'company', private: true }),
    'pnpm-workspace.yaml': 'packages:\n  - apps/*\n',
  },
  withoutScripts: ['pnpm', 'install', '--ignore-scripts'],
};

const nodeModules = { '.yarnrc.yml': 'nodeLinker: node-modules\n' };

export const yarn: Manager = {
  name: 'Yarn 4',
  install: ['yarn', 'install'],
  run: ['yarn', 'run'],
  verify: ['yarn', 'install', '--immutable', '--check-cache'],
  files: nodeModules,
  workspace: { ...nodeModules, 'package.json': workspaces },
  withoutScripts: ['yarn', 'install', '--mode=skip-build'],
};
