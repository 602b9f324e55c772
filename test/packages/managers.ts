/** The package managers that projects are tried with, each as its users call it. */

/** Commands and settings of a package manager. */
export interface Manager {
  readonly name: string;
  /** Makes a project in a new folder below. */
  create(folder: string): readonly string[];
  /** Runs a script of package.json. */
  script(name: string, ...options: readonly string[]): readonly string[];
  /** Installs what package.json names. */
  readonly install: readonly string[];
  /** Installs again, with folders (`file:`) as they are now. */
  readonly reinstall: readonly string[];
  /** Comes before a command that the project has installed. */
  readonly run: readonly string[];
  /** Fails where a dependency is missing, unmet or of no use. */
  readonly verify: readonly string[];
  /** Settings of a project, by file. */
  readonly files: Readonly<Record<string, string>>;
  /** Files at the top of a workspace that has these folders as members. */
  workspace(members: readonly string[]): Readonly<Record<string, string>>;
  /** Version that a member writes for another member. */
  readonly memberVersion: string;
  /** Settings of a project that has a copy of a folder (`file:`) among its packages. */
  readonly copyFiles: Readonly<Record<string, string>>;
  /** Installs without scripts of packages. */
  readonly withoutScripts: readonly string[];
}

function topManifest(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ name: 'company', private: true, ...members });
}

export const npm: Manager = {
  name: 'npm',
  create: (folder) => ['npm', 'create', 'tablewright@latest', folder, '--', '--yes'],
  script: (name, ...options) => ['npm', 'run', name, '--', ...options],
  install: ['npm', 'install'],
  reinstall: ['npm', 'ci'],
  run: ['npx', '--no'],
  verify: ['npm', 'ls', '--all'],
  files: {},
  workspace: (workspaces) => ({ 'package.json': topManifest({ workspaces }) }),
  memberVersion: '*',
  copyFiles: { '.npmrc': 'install-links=true\n' },
  withoutScripts: ['npm', 'install', '--ignore-scripts'],
};

export const pnpm: Manager = {
  name: 'pnpm',
  create: (folder) => ['pnpm', 'create', 'tablewright', folder, '--yes'],
  script: (...command) => ['pnpm', 'run', ...command],
  install: ['pnpm', 'install'],
  reinstall: ['pnpm', 'install'],
  run: ['pnpm', 'exec'],
  verify: ['pnpm', 'install', '--frozen-lockfile', '--strict-peer-dependencies'],
  files: {},
  workspace: (packages) => ({
    'package.json': topManifest({}),
    'pnpm-workspace.yaml': JSON.stringify({ packages }),
  }),
  memberVersion: 'workspace:*',
  copyFiles: {},
  withoutScripts: ['pnpm', 'install', '--ignore-scripts'],
};

// The empty lock file says that the project is no part of another one in a folder above.
const nodeModules = { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' };

export const yarn: Manager = {
  name: 'Yarn 4',
  create: (folder) => ['yarn', 'create', 'tablewright', folder, '--yes'],
  script: (...command) => ['yarn', 'run', ...command],
  install: ['yarn', 'install'],
  reinstall: ['yarn', 'install'],
  run: ['yarn', 'run'],
  verify: ['yarn', 'install', '--immutable', '--check-cache'],
  files: nodeModules,
  workspace: (workspaces) => ({ ...nodeModules, 'package.json': topManifest({ workspaces }) }),
  memberVersion: 'workspace:*',
  copyFiles: nodeModules,
  withoutScripts: ['yarn', 'install', '--mode=skip-build'],
};
