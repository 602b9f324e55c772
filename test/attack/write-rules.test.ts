/**
 * Random writes under random rules about other rows, against a model of a few lines: links lead to what was readable before
 * the write, rules of stored rows hold before it, those of written rows before it and after it.
 *
 * WRITE_REQUESTS sends so many in the name of each role, ATTACK_SEED repeats a run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { serverForms } from '../support/servers.ts';
import { seededRandom } from '../support/swarm.ts';

const requests = Number(process.env.WRITE_REQUESTS ?? 15);
const roles = Array.from({ length: 12 }, (_, index) => index);

interface Club {
  readonly id: number;
  readonly open: boolean;
}
interface Seat {
  readonly id: number;
  readonly club: number | null;
  readonly person: string;
  readonly grade: string;
}
interface State {
  readonly clubs: readonly Club[];
  readonly seats: readonly Seat[];
}

/** A condition as a rule says it, and what it means on a row. */
interface Meaning<R> {
  readonly filter: string;
  /** False where a value of the caller is missing, which makes the whole rule false. */
  readonly isThere: (state: State, me: string) => boolean;
  readonly holds: (state: State, row: R, me: string) => boolean;
  /** The same where a validation has to hold before the write; true where it does not ask who the caller is. */
  readonly ahead?: (state: State, row: R, me: string) => boolean;
}

const clubOf = ({ clubs }: State, { club }: Seat) => clubs.find(({ id }) => id === club);
const seatsIn = ({ seats }: State, { club }: Seat) => seats.filter((seat) => club !== null && seat.club === club);
const mine = ({ seats }: State, me: string) => seats.filter(({ person, club }) => person === me && club !== null);
const there = (): boolean => true;

const seatMeanings: readonly Meaning<Seat>[] = [
  { filter: '{ person: { _eq: $CURRENT_USER } }', isThere: there, holds: (_, { person }, me) => person === me },
  { filter: '{ grade: { _neq: admin } }', isThere: there, holds: (_, { grade }) => grade !== 'admin' },
  {
    filter: '{ club: { open: { _eq: true } } }',
    isThere: there,
    holds: (state, seat) => clubOf(state, seat)?.open === true,
  },
  {
    filter: '{ club: { seats: { _some: { person: { _eq: $CURRENT_USER }, grade: { _eq: admin } } } } }',
    isThere: there,
    holds: (state, seat, me) => seatsIn(state, seat).some(({ person, grade }) => person === me && grade === 'admin'),
  },
  {
    filter: '{ club: { seats: { _none: { grade: { _eq: admin } } } } }',
    isThere: there,
    holds: (state, seat) => seat.club !== null && seatsIn(state, seat).every(({ grade }) => grade !== 'admin'),
    ahead: there,
  },
  {
    filter: '{ club: { _in: $CURRENT_USER.seats.club } }',
    isThere: (state, me) => mine(state, me).length > 0,
    holds: (state, { club }, me) => mine(state, me).some((seat) => seat.club === club),
  },
];

const clubMeanings: readonly Meaning<Club>[] = [
  { filter: '{ id: { _gt: 0 } }', isThere: there, holds: there },
  { filter: '{ open: { _eq: true } }', isThere: there, holds: (_, { open }) => open },
  {
    filter: '{ seats: { _some: { person: { _eq: $CURRENT_USER } } } }',
    isThere: there,
    holds: (state, { id }, me) => mine(state, me).some(({ club }) => club === id),
  },
  {
    filter: '{ id: { _in: $CURRENT_USER.seats.club } }',
    isThere: (state, me) => mine(state, me).length > 0,
    holds: (state, { id }, me) => mine(state, me).some(({ club }) => club === id),
  },
];

const random = seededRandom();
const below = (count: number): number => Math.floor(random() * count);
function pick<T>(values: readonly T[]): T {
  const value = values[below(values.length)];
  if (value === undefined) throw new Error('there is nothing to pick');
  return value;
}

/** A condition, two together, or one of two. */
function drawMeaning(): Meaning<Seat> {
  const [first, second] = [pick(seatMeanings), pick(seatMeanings)];
  const kind = below(4);
  if (kind < 2) return first;
  const isThere: Meaning<Seat>['isThere'] = (...asking) => first.isThere(...asking) && second.isThere(...asking);
  const [left, right] = [first.ahead ?? first.holds, second.ahead ?? second.holds];
  return kind === 2
    ? {
        filter: `{ _and: [${first.filter}, ${second.filter}] }`,
        isThere,
        holds: (...asking) => first.holds(...asking) && second.holds(...asking),
        ahead: (...asking) => left(...asking) && right(...asking),
      }
    : {
        filter: `{ _or: [${first.filter}, ${second.filter}] }`,
        isThere,
        holds: (...asking) => first.holds(...asking) || second.holds(...asking),
        ahead: (...asking) => left(...asking) || right(...asking),
      };
}

const drawn = roles.map((index) => ({
  name: `role${index}`,
  role: `00000000-0000-4000-9000-0000000000${10 + index}`,
  me: `00000000-0000-4000-8000-0000000000${10 + index}`,
  token: `token-of-role-${10 + index}-00000000`,
  clubs: pick(clubMeanings),
  create: drawMeaning(),
  update: drawMeaning(),
  validation: below(2) === 0 ? null : drawMeaning(),
  delete: drawMeaning(),
}));
type Role = (typeof drawn)[number];

const permissions = `
roles: { ${drawn.map(({ name }) => `${name}: {}`).join(', ')} }
permissions:
${drawn
  .map(
    (role) => `  ${role.name}:
    platform_users: { read: true }
    clubs: { read: { fields: '*', filter: ${role.clubs.filter} } }
    seats:
      read: true
      create: { fields: '*', validation: ${role.create.filter} }
      update: { fields: '*', filter: ${role.update.filter}${role.validation === null ? '' : `, validation: ${role.validation.filter}`} }
      delete: { filter: ${role.delete.filter} }`,
  )
  .join('\n')}
`;

const other = '00000000-0000-4000-8000-00000000000f';
const sql = `
  CREATE TABLE clubs (id integer PRIMARY KEY, open boolean NOT NULL);
  CREATE TABLE seats (
    id integer PRIMARY KEY, club integer REFERENCES clubs, person uuid NOT NULL REFERENCES platform.platform_users,
    grade varchar(10) NOT NULL);
  INSERT INTO platform.platform_roles (id, name) VALUES ${drawn.map(({ role, name }) => `('${role}', '${name}')`).join(', ')};
  INSERT INTO platform.platform_users (id, email, role, token) VALUES
    ${drawn.map(({ me, name, role, token }) => `('${me}', '${name}@example.com', '${role}', '${token}')`).join(', ')},
    ('${other}', 'other@example.com', NULL, NULL);
`;

function drawState(me: string): State {
  const clubs = [1, 2, 3, 4].map((id): Club => ({ id, open: below(2) === 0 }));
  const seats = Array.from({ length: 6 }, (_, index) => drawSeat(me, index + 1));
  return { clubs, seats };
}

function drawSeat(me: string, id: number): Seat {
  return { id, club: pick([1, 2, 3, 4, null]), person: pick([me, other]), grade: pick(['admin', 'guest']) };
}

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly made: readonly Seat[];
  readonly changes: ReadonlyMap<number, Partial<Seat>>;
  readonly gone: readonly number[];
  /** True if rows that the caller may not write are passed over. */
  readonly passes?: true;
}

const nothing = { made: [], changes: new Map<number, Partial<Seat>>(), gone: [] };

function drawWrite(me: string, { seats }: State): Write {
  const ids = seats.map(({ id }) => id);
  const id = pick([...ids, 99]);
  const many = [...new Set([id, pick(ids)])];
  const change = pick<() => Partial<Seat>>([
    () => ({ club: pick([1, 2, 3, 4, null]) }),
    () => ({ grade: pick(['admin', 'guest']) }),
    () => ({ club: pick([1, 2, 3, 4]), grade: pick(['admin', 'guest']) }),
    () => ({ person: pick([me, other]) }),
  ]);
  const data = change();
  const next = Math.max(...ids) + 1;
  const first = drawSeat(me, next);
  const fresh = [first, drawSeat(me, next + 1)];
  const each = many.map((key) => ({ id: key, ...change() }));
  const same = (keys: readonly number[]) => new Map(keys.map((key) => [key, data]));
  return pick<Write>([
    { ...nothing, method: 'POST', path: '/items/seats', body: first, made: [first] },
    { ...nothing, method: 'POST', path: '/items/seats', body: fresh, made: fresh },
    { ...nothing, method: 'PATCH', path: `/items/seats/${id}`, body: data, changes: same([id]) },
    { ...nothing, method: 'PATCH', path: '/items/seats', body: { keys: many, data }, changes: same(many) },
    { ...nothing, method: 'PATCH', path: '/items/seats', body: { query: {}, data }, changes: same(ids), passes: true },
    {
      ...nothing,
      method: 'PATCH',
      path: '/items/seats',
      body: each,
      changes: new Map(each.map(({ id: key, ...parts }) => [key, parts])),
    },
    { ...nothing, method: 'DELETE', path: `/items/seats/${id}`, gone: [id] },
    { ...nothing, method: 'DELETE', path: '/items/seats', body: { query: {} }, gone: ids, passes: true },
  ]);
}

/** The rows that a write leaves; null where it is to be refused. */
function foretell(role: Role, before: State, write: Write): State | null {
  const { me } = role;
  const isTrue = (meaning: Meaning<Seat>, state: State, seat: Seat): boolean =>
    meaning.isThere(state, me) && meaning.holds(state, seat, me);
  const may = (meaning: Meaning<Seat>, key: number): boolean => {
    const seat = before.seats.find(({ id }) => id === key);
    return seat !== undefined && isTrue(meaning, before, seat);
  };
  const changed = [...write.changes].filter(([key]) => write.passes !== true || may(role.update, key));
  const gone = write.gone.filter((key) => write.passes !== true || may(role.delete, key));
  if (!changed.every(([key]) => may(role.update, key)) || !gone.every((key) => may(role.delete, key))) return null;
  const changes = new Map(changed);
  const kept = before.seats
    .filter(({ id }) => !gone.includes(id))
    .map((seat) => ({ ...seat, ...changes.get(seat.id) }));
  const after = { ...before, seats: [...kept, ...write.made] };
  const written = [...write.made, ...kept.filter(({ id }) => changes.has(id))];
  const sees = (key: number): boolean => {
    const club = before.clubs.find(({ id }) => id === key);
    return club !== undefined && role.clubs.isThere(before, me) && role.clubs.holds(before, club, me);
  };
  const links = [...write.made, ...changes.values()].flatMap(({ club }) => club ?? []);
  const isRight = (seat: Seat): boolean => {
    const validation = write.made.includes(seat) ? role.create : role.validation;
    const meaning = validation ?? role.update;
    const { isThere, holds, ahead = holds } = meaning;
    const atFirst = validation === null ? holds : ahead;
    return isTrue(meaning, after, seat) && isThere(before, me) && atFirst(before, seat, me);
  };
  return links.every(sees) && written.every(isRight) ? after : null;
}

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment }) => {
  describe.skipIf(missing)('writes', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        project = await serveProject({ system: true, sql, permissions, environment });
      }),
    );
    afterAll(() => project?.close());

    async function store({ clubs, seats }: State): Promise<void> {
      const values = seats.map(({ id, club, person, grade }) => `(${id}, ${club ?? 'NULL'}, '${person}', '${grade}')`);
      await project.rows(
        [
          ...['DELETE FROM seats', 'DELETE FROM clubs'],
          `INSERT INTO clubs VALUES ${clubs.map(({ id, open }) => `(${id}, ${open})`).join(', ')}`,
          ...(values.length > 0 ? [`INSERT INTO seats VALUES ${values.join(', ')}`] : []),
        ].join('; '),
      );
    }

    const text = (seats: readonly Seat[]): string =>
      seats
        .map(({ id, club, person, grade }) => [id, club ?? '', person, grade].join())
        .sort()
        .join('\n');

    async function stored(): Promise<string> {
      const cells = await project.cells('SELECT id, club, person, grade FROM seats');
      return cells
        .map((row) => row.map((cell) => cell ?? '').join())
        .sort()
        .join('\n');
    }

    it('do what a model says', async () => {
      let done = 0;
      for (const role of drawn) {
        let state = drawState(role.me);
        for (let index = 0; index < requests; index++) {
          if (index % 5 === 0 || state.seats.length < 2) state = drawState(role.me);
          await store(state);
          const write = drawWrite(role.me, state);
          const { method, path, body } = write;
          const left = foretell(role, state, write);
          const answer = await project.ask(path, { method, token: role.token, body });
          const told = JSON.stringify({ role, state, method, path, body, answer: answer.text });
          expect([answer.status < 300, await stored()], told).toEqual([left !== null, text((left ?? state).seats)]);
          expect(answer.status, told).toBeLessThan(500);
          if (left !== null) done += 1;
          state = left ?? state;
        }
      }
      expect(done).toBeGreaterThan(roles.length * requests * 0.05);
    });
  });
});
