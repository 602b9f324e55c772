/** A container engine of tests: podman as root, with storage, networks and images of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Finished, isRoot, type Machine, type Variables } from './machine.ts';
import { makeNodeRoot, makePostgresRoot, postgresEntry, postgresPrograms } from './stand-ins.ts';

/** An engine that has stand-ins for the images that templates/deploy names. */
export interface Engine {
  /** Variables by which podman and podman-compose find its storage. */
  readonly variables: Variables;
  /** Runs a command as root. */
  run(cwd: string, command: readonly string[]): Promise<Finished>;
  /** Runs a command as root that has to succeed, and resolves to all that it printed. */
  succeed(cwd: string, command: readonly string[]): Promise<string>;
  /** Ends and removes all containers and images. */
  close(): Promise<void>;
}

/** Reason why no engine can run here; null where one can. */
export function engineProblem(): string | null {
  if (!isRoot) return 'tests are not run by root';
  const needed = ['podman', 'podman-compose', 'setpriv', 'ldd'];
  const absent = needed.find((name) => spawnSync(name, ['--version']).status !== 0);
  if (absent !== undefined) return `${absent} is not installed`;
  const helpers = ['/usr/lib/podman', '/usr/libexec/podman'];
  const isThere = (name: string): boolean => helpers.some((folder) => existsSync(join(folder, name)));
  const helper = ['netavark', 'aardvark-dns'].find((name) => !isThere(name));
  if (helper !== undefined) return `${helper} is not installed`;
  return postgresPrograms() === null ? 'PostgreSQL of Debian is not installed' : null;
}

/** Starts an engine, whose images ask the registry of the machine. */
export async function startEngine(machine: Machine): Promise<Engine> {
  const folder = machine.makeFolder('engine');
  for (const [name, text] of Object.entries(settingsIn(folder))) machine.write(`engine/${name}`, text);
  const variables: Variables = {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
    // Without it podman leaves the health check out of an image.
    BUILDAH_FORMAT: 'docker',
    PATH: [join(machine.folder, 'bin'), '/usr/sbin', '/usr/bin'].join(delimiter),
  };
  const run: Engine['run'] = (cwd, command) => machine.run(cwd, command, variables, {});
  const succeed: Engine['succeed'] = async (cwd, command) => {
    const { code, output } = await run(cwd, command);
    if (code !== 0) throw new Error(`\`${command.join(' ')}\` ended with ${code}:\n${output}`);
    return output;
  };
  const add = (name: string, root: string, ...changes: string[]): Promise<string> => {
    const options = changes.map((change) => `--change '${change}'`).join(' ');
    return succeed(root, ['sh', '-euc', `tar -c . | podman import ${options} - docker.io/library/${name}`]);
  };
  await add('node:24-slim', makeNodeRoot(machine), 'CMD ["node"]');
  const entry = [`ENTRYPOINT ["${postgresEntry}"]`, 'STOPSIGNAL SIGINT', 'VOLUME /var/lib/postgresql'];
  await add('postgres:18', makePostgresRoot(machine, postgresPrograms() ?? ''), ...entry);
  const close = async (): Promise<void> => {
    await run(folder, ['podman', 'rm', '--all', '--force', '--time', '2']);
    await run(folder, ['podman', 'system', 'reset', '--force']);
  };
  return { variables, run, succeed, close };
}

/**
 * `docker compose up --wait --build` by podman-compose: it does not wait, and builds in a network that does not reach a
 * registry on this machine. `npx` is for the ordinary user.
 */
export const composeByPodman = `
docker() {
  service=
  case "$*" in
    *--build) podman build --quiet --network=host --tag shop_server . ;;
    *) service="\${*: -1}" ;;
  esac
  podman-compose up --detach $service
  for name in $(podman ps --format '{{.Names}}'); do
    for tries in $(seq 60); do
      if podman healthcheck run "$name"; then break; fi
      if [ "$tries" = 60 ]; then podman logs "$name"; fi
      sleep 0.5
    done
  done
}
npx() { setpriv --reuid 65534 --regid 65534 --clear-groups npx "$@"; }
`;

/** Settings of an engine. Limits are those that root may always set; runc also runs where both kinds of cgroups are mounted. */
function settingsIn(folder: string): Readonly<Record<string, string>> {
  const runtime = spawnSync('runc', ['--version']).status === 0 ? 'runtime = "runc"\n' : '';
  return {
    'containers.conf': `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
${runtime}[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`,
    'storage.conf': `[storage]
driver = "overlay"
graphroot = "${folder}/storage"
runroot = "${folder}/run"
`,
    'registries.conf': 'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "disabled"\n',
  };
}
