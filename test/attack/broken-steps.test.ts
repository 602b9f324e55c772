/**
 * Rules that a write breaks beside others, or in several steps: the answer must not tell whether the database would have
 * taken the rows of the first, because a hidden row has their key, nor whether a row that they name is hidden or missing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { expectSameRefusal } from '../support/refusals.ts';
import { serverForms } from '../support/servers.ts';
import { config, permissions, postgres, sql, stamped, triggersOf } from './broken-steps/schema.ts';

describe.each(serverForms)('on $name, $form', ({ dialect, missing, environment, form }) => {
  describe.skipIf(missing)('an answer', () => {
    let project: ServedProject;
    beforeAll(() =>
      onServer(dialect, async () => {
        // Both kinds of servers have each once: MySQL and MariaDB are told of triggers by the same reader.
        const isStamped = dialect === 'mysql' || form === 'without optimisations';
        const made = sql + triggersOf(isStamped ? stamped : ['approvals']);
        project = await serveProject({ portable: true, sql: made, postgres, permissions, environment, config });
      }),
    );
    afterAll(() => project?.close());

    const entry = (name: string, parts: readonly object[]) => ({ id: 10, list: 2, name, parts });
    it.each([
      ['', (name: string) => entry(name, [{ id: 1, size: 0, list: 1 }]), 2],
      ['', (name: string) => entry(name, [{ id: 1, size: 1, list: 2 }]), 2],
      ['?on_conflict=id', (name: string) => [entry(name, []), { id: 1, list: 2 }], 1],
      ['?on_conflict=list,name', (name: string) => entry(name, [{ id: 1, size: 0, list: 2 }]), 3],
    ] as const)('tells nothing of a hidden row by rules of later steps: %s, %#', async (query, bodyOf, count) => {
      const send = (name: string) => project.ask(`/items/entries${query}`, { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toHaveLength(count);
    });

    const node = (name: string, leaves: object) => ({ id: 10, list: 2, name, parent: 1, leaves });
    it.each([
      ['nodes', (name: string) => node(name, [{ id: 1, size: 1, list: 2 }])],
      ['nodes', (name: string) => [node(name, []), { ...node('x', [{ id: 1, list: 2 }]), id: 11, list: 1 }]],
      ['nodes?on_conflict=list,name', (name: string) => node(name, [{ id: 1, size: 1, list: 2 }])],
      ['labels', (name: string) => ({ list: 2, name, notes: [{ list: 2 }] })],
      ['slots', (name: string) => ({ list: 2, name, stays: [{ list: 2 }] })],
    ])('tells nothing of a hidden row by what comes before rules at the end: %s, %#', async (path, bodyOf) => {
      const send = (name: string) => project.ask(`/items/${path}`, { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors[0].extensions).toMatchObject({ code: 'FAILED_VALIDATION', field: 'list', type: 'eq' });
    });

    it.each([
      [(name: string) => node(name, [{ id: 1, size: 1, list: 1, node: 5 }]), '400 INVALID_PAYLOAD'],
      [(name: string) => node(name, { delete: [99] }), '403 FORBIDDEN'],
    ] as const)('tells nothing of a hidden row by what comes before all rules: %#', async (bodyOf, refusal) => {
      const send = (name: string) => project.ask('/items/nodes', { method: 'POST', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe(refusal);
    });

    const order = (name: string, more: object = {}) => ({ id: 10, list: 2, name, ...more });
    const [noGoods, marked] = ['gt', 'lte'];
    const marks = [{ id: 1 }, { id: 2 }];
    it.each([
      ['POST', '', (name: string) => order(name), [noGoods]],
      ['POST', '', (name: string) => [order(name), order('x', { id: 11, list: 1 })], [noGoods, noGoods]],
      ['POST', '', (name: string) => order('x', { id: name === 'bob' ? 2 : 99, list: 1 }), [noGoods]],
      ['POST', '', (name: string) => order(name, { marks: [{ id: 1 }] }), [noGoods]],
      ['POST', '', (name: string) => order(name, { marks }), [noGoods, marked]],
      ['POST', '', (name: string) => order(name, { goods: [], marks }), [noGoods, marked]],
      [
        'POST',
        '',
        (name: string) =>
          order(name, {
            goods: [
              { id: 5, size: 0 },
              { id: 6, size: -1 },
            ],
          }),
        [noGoods],
      ],
      ['POST', '', (name: string) => order(name, { goods: [{ id: 5, size: 0 }], marks }), [noGoods, marked]],
      ['POST', '?on_conflict=id', (name: string) => order(name), [noGoods]],
      ['POST', '?on_conflict=list,name', (name: string) => order(name, { goods: [{ id: 5, size: 0 }] }), [noGoods]],
      ['PATCH', '/1', (name: string) => ({ list: 2, name }), [noGoods]],
      ['PATCH', '', (name: string) => [{ id: 1, list: 2, name }], [noGoods]],
      ['PATCH', '', (name: string) => ({ query: { filter: { id: 1 } }, data: { list: 2, name } }), [noGoods]],
    ] as const)(
      'tells nothing of a hidden row by rules about items below: %s %s, %#',
      async (method, path, bodyOf, broken) => {
        const send = (name: string) => project.ask(`/items/orders${path}`, { method, body: bodyOf(name) });
        const [taken, free] = [await send('bob'), await send('new')];
        expectSameRefusal(taken, free);
        const types = free.json.errors.map(({ extensions }: { extensions: { type: string } }) => extensions.type);
        expect(types.sort()).toEqual(broken);
      },
    );

    it.each([
      [
        'orders',
        (name: string) =>
          order(name, {
            goods: [
              { id: 5, size: 0 },
              { id: 6, size: 1 },
            ],
          }),
      ],
      ['orders', (name: string) => order(name, { goods: [1] })],
      [
        'desks?on_conflict=id',
        (name: string) => [
          { id: 10, parent: 1, open: true, name },
          { id: 1, open: true },
        ],
      ],
      ['desks', (name: string) => ({ id: 10, open: true, name, parent: { id: 1, open: true } })],
      ['docs', (code: string) => ({ id: 10, open: true, code, grades: [3] })],
      ['exams', (code: string) => ({ id: 10, open: true, code, grades: [1, 3] })],
    ])('tells of the key where later steps fulfil the rules: %s, %#', async (path, bodyOf) => {
      const taken = await project.ask(`/items/${path}`, { method: 'POST', body: bodyOf('bob') });
      expect(taken.json.errors).toMatchObject([{ extensions: { type: 'unique' } }]);
      expect((await project.ask(`/items/${path}`, { method: 'POST', body: bodyOf('new') })).status).toBeLessThan(300);
      const [table] = path.split('?');
      await project.rows('UPDATE goods SET order_id = 2 WHERE id = 1');
      await project.rows(
        'DELETE FROM goods WHERE id > 1; DELETE FROM docs_grades; DELETE FROM exams_grades WHERE exam > 1',
      );
      await project.rows(`DELETE FROM ${table} WHERE id = 10`);
      await project.rows("UPDATE desks SET open = false WHERE name = 'ann'");
    });

    it.each([
      ['PATCH', 'docs/1', { grades: {} }],
      ['POST', 'docs', { id: 10, open: true, grades: {} }],
      ['PATCH', 'sheets/1', {}],
      ['POST', 'sheets', { id: 10, doc: 1 }],
      ['PATCH', 'prints/1', {}],
      ['PATCH', 'banners/1', { club: { id: 1, members: { create: [{ person: 9, open: true }] } } }],
      ['POST', 'banners', { id: 10, club: { id: 1, members: { create: [{ person: 9, open: true }] } } }],
      ['POST', 'banners', { id: 10, club: { id: 9, members: [{ person: 9, open: true }] } }],
      ...[{ grades: [1] }, { grades: { update: [{ id: 1 }] } }, { grades: [] }].flatMap((grades) => [
        ['PATCH', 'docs/1', grades] as const,
        ['POST', 'docs', { id: 10, open: true, ...grades }] as const,
        ['PATCH', 'exams/1', grades] as const,
        ['POST', 'exams', { id: 10, open: true, ...grades }] as const,
      ]),
      ['PATCH', 'crates/1', { lids: { update: [{ id: 1, label: 'q' }] } }],
      ['PATCH', 'crates/3', { lids: { delete: [3] } }],
      ['PATCH', 'crates/3', { lids: [4, 5] }],
      ['PATCH', 'chests/1', {}],
      ['PATCH', 'chests/3', { coins: { delete: [3] } }],
      ['PATCH', 'walls/1', {}],
      ['PATCH', 'walls/1', { pegs: {} }],
      ['PATCH', 'walls/1', { pegs: [] }],
      ['PATCH', 'walls/1', { pegs: { create: [{ id: 9, collection: 'lists', item: 1, firm: false }] } }],
      ['PATCH', 'walls/1', { pegs: { update: [{ id: 1, collection: 'lists', item: 2 }] } }],
      ['PATCH', 'peers/1', {}],
      ['PATCH', 'peers/1', { friends: [] }],
      ['PATCH', 'peers/1', { friends: [1] }],
      ['PATCH', 'topics/1', {}],
      ['PATCH', 'topics/1', { topics: [] }],
      ['PATCH', 'racks/1', { boxes: { delete: [1] } }],
      ['PATCH', 'racks/1', { boxes: [1] }],
    ] as const)(
      'tells nothing of a hidden row by rules about items left alone: %s %s %j',
      async (method, path, more) => {
        const send = (code: string) => project.ask(`/items/${path}`, { method, body: { ...more, code } });
        const [taken, free] = [await send('bob'), await send('new')];
        expectSameRefusal(taken, free);
        expect(failure(free)).toBe('400 FAILED_VALIDATION');
      },
    );

    it.each([
      ['docs', { grades: { update: [{ id: 3 }] } }, 'DELETE FROM docs_grades'],
      ['docs', { grades: [{ high: true, shown: true }] }, 'DELETE FROM docs_grades; DELETE FROM grades WHERE id > 3'],
      [
        'bins',
        { open: true, pins: { update: [{ id: 1, size: 5 }] } },
        'UPDATE bins SET open = false WHERE id = 1; UPDATE pins SET size = 0',
      ],
      [
        'carts',
        { amount: 1, wares: { create: [{ id: 9, amount: 9 }] } },
        'DELETE FROM wares; UPDATE carts SET amount = 9 WHERE id = 1',
      ],
      ['crates', { lids: { delete: [1] } }, 'UPDATE lids SET crate = 1 WHERE id = 1'],
      ['chests', { coins: { delete: [1] } }, 'INSERT INTO coins VALUES (1, 1, true, false)'],
      ['chests', { coins: [] }, 'INSERT INTO coins VALUES (1, 1, true, false)'],
      [
        'walls',
        { pegs: { create: [{ id: 9, collection: 'lists', item: 1, firm: true }] } },
        'DELETE FROM pegs WHERE id = 9',
      ],
      [
        'walls',
        { pegs: { update: [{ id: 1, collection: 'lists', item: 1, firm: true }] } },
        'UPDATE pegs SET firm = false',
      ],
      ['peers', { friends: { update: [{ id: 3 }] } }, 'DELETE FROM peers_peers'],
      ['peers', { friends: [1, 3] }, 'DELETE FROM peers_peers'],
      ['topics', { topics: { create: [{ id: 9, open: true }] } }, 'DELETE FROM topics WHERE id = 9'],
      ['topics', { parent: 1 }, 'UPDATE topics SET parent = NULL'],
      ['exams', { grades: { delete: [3], update: [{ id: 1 }] } }, 'INSERT INTO exams_grades VALUES (1, 3)'],
      ['racks', { boxes: { update: [{ id: 2 }] } }, 'UPDATE boxes SET rack = NULL WHERE id > 1'],
      ['racks', { boxes: { create: [{ id: 9 }] } }, 'DELETE FROM boxes WHERE id > 2'],
      [
        'banners',
        { club: { id: 1, members: { create: [{ person: 11, open: true }] } } },
        'DELETE FROM members WHERE person > 9',
      ],
    ])('tells of the key where a change fulfils the rules by what it links: %s %j', async (table, more, back) => {
      await project.rows('DELETE FROM exams_grades WHERE grade > 1; INSERT INTO exams_grades VALUES (1, 3)');
      const send = (code: string) => project.ask(`/items/${table}/1`, { method: 'PATCH', body: { ...more, code } });
      const taken = await send('bob');
      expect(taken.json.errors).toMatchObject([{ extensions: { type: 'unique' } }]);
      expect((await send('new')).status).toBe(200);
      await project.rows(back);
      await project.rows(`UPDATE ${table} SET code = 'ann' WHERE id = 1`);
    });

    const letter = (code: string, ok: boolean) => {
      const body = { proofs: { update: [{ id: 1, code }] }, seals: { create: [{ id: 9, ok }] } };
      return project.ask('/items/letters/1', { method: 'PATCH', body });
    };
    it('tells nothing of a hidden row by rules about items that later steps make', async () => {
      const [taken, free] = [await letter('bob', false), await letter('new', false)];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe('400 FAILED_VALIDATION');
    });

    it('tells of the key where items that later steps make fulfil the rules', async () => {
      expect((await letter('bob', true)).json.errors).toMatchObject([{ extensions: { type: 'unique' } }]);
      expect((await letter('new', true)).status).toBe(200);
      await project.rows("DELETE FROM seals; UPDATE proofs SET code = 'ann' WHERE id = 1");
    });

    const graded = { update: [{ id: 3 }] };
    it.each([
      ['PATCH', 'docs', { id: 1 }, { id: 3, grades: graded }],
      ['POST', 'docs', { id: 10, open: true }, { id: 11, open: true, grades: graded }],
      ['PATCH', 'racks', { id: 1 }, { id: 3, boxes: { create: [{ id: 9 }] } }],
      ['PATCH', 'peers', { id: 1 }, { id: 3, friends: [3] }],
    ] as const)(
      'tells nothing of a hidden row by rules that the request fulfils for another item: %s %s %j',
      async (method, path, item, fulfilled) => {
        const send = (code: string) => project.ask(`/items/${path}`, { method, body: [{ ...item, code }, fulfilled] });
        const [taken, free] = [await send('bob'), await send('new')];
        expectSameRefusal(taken, free);
        expect(failure(free)).toBe('400 FAILED_VALIDATION');
      },
    );

    const linked = { id: 10, open: true, grades: [3] };
    it.each([
      ['PATCH', 'tasks/1', { grades: { update: [{ id: 3 }] } }, '403 FORBIDDEN'],
      ['POST', 'tasks', linked, '403 FORBIDDEN'],
      ['POST', 'songs', linked, '400 FAILED_VALIDATION'],
      ['PATCH', 'songs/1', { grades: { delete: [3] } }, '403 FORBIDDEN'],
      ['PATCH', 'songs/1', { grades: [1] }, '403 FORBIDDEN'],
      ['PATCH', 'chests/3', { coins: { delete: [2] } }, '403 FORBIDDEN'],
      ['PATCH', 'chests/3', { coins: [] }, '403 FORBIDDEN'],
      ['PATCH', 'chests/3', { coins: [2] }, '403 FORBIDDEN'],
    ] as const)(
      'tells nothing of a hidden row by rules that links fulfil which the caller may not change: %s %s %j',
      async (method, path, more, refusal) => {
        const send = (code: string) => project.ask(`/items/${path}`, { method, body: { ...more, code } });
        const [taken, free] = [await send('bob'), await send('new')];
        expectSameRefusal(taken, free);
        expect(failure(free)).toBe(refusal);
      },
    );

    const other = [99, 2] as const;
    it.each([
      ...other.map(
        (id) =>
          [
            '',
            (name: string) => [
              { id: 1, name },
              { id, open: true },
            ],
          ] as const,
      ),
      ...other.map((id) => ['', (name: string) => ({ keys: [1, id], data: { name } })] as const),
      ...other.map(
        (id) =>
          [
            '',
            (name: string) => [
              { id: 1, name, desks: [] },
              { id, open: true },
            ],
          ] as const,
      ),
      ...other.map((id) => [`/${id}`, (name: string) => ({ open: true, parent: { id: 1, name } })] as const),
    ])('tells nothing of a hidden row beside items that are missing: PATCH %s, %#', async (path, bodyOf) => {
      const send = (name: string) => project.ask(`/items/desks${path}`, { method: 'PATCH', body: bodyOf(name) });
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe('403 FORBIDDEN');
    });

    it.each([
      (parent: number) => ({ id: 1, open: true, name: 'cid', desks: [{ id: 10, parent, open: true, name: 'new' }] }),
      (parent: number) => [
        { id: 10, open: true, name: 'ann' },
        { id: 11, open: true, name: 'new', parent },
      ],
    ])('names a hidden row as a missing one, beside a key of a visible row: %#', async (bodyOf) => {
      const send = (parent: number) => project.ask('/items/desks', { method: 'POST', body: bodyOf(parent) });
      const [hidden, missing] = [await send(2), await send(99)];
      expectSameRefusal(missing, hidden);
    });

    it('tells nothing of a hidden row by rules that the payload breaks below it', async () => {
      const send = (name: string) => {
        const body = { list: 2, name, plates: [{ size: 0 }, { size: 1 }] };
        return project.ask('/items/shelves', { method: 'POST', body });
      };
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toMatchObject([{ extensions: { field: 'plates[0].size', type: 'gt' } }]);
    });

    it.each([2, 99])('tells nothing of a hidden row by links of later steps: to %i', async (near) => {
      const send = (name: string) => {
        return project.ask('/items/shelves', { method: 'POST', body: { list: 2, name, plates: [{ size: 1, near }] } });
      };
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(failure(free)).toBe('403 FORBIDDEN');
    });

    it('takes time by the number of items, also where they are refused', async () => {
      const body = Array.from({ length: 7000 }, (_, index) => ({ id: 1000 + index, name: `n${index}`, desks: [] }));
      const began = performance.now();
      expect(failure(await project.ask('/items/desks', { method: 'PATCH', body }))).toBe('403 FORBIDDEN');
      expect(performance.now() - began).toBeLessThan(6000);
    });

    it('tells nothing of a hidden row by links to items that the request leaves as they are', async () => {
      const send = (name: string) => {
        const body = [
          { id: 10, parent: 1, open: true, name },
          { id: 1, open: false },
        ];
        return project.ask('/items/desks?on_conflict=id', { method: 'POST', body });
      };
      const [taken, free] = [await send('bob'), await send('new')];
      expectSameRefusal(taken, free);
      expect(free.json.errors).toMatchObject([{ extensions: { field: 'parent', type: 'eq' } }]);
    });

    it.each([
      (parent: number, name: string) => ({ id: 10, list: 2, name, parent }),
      (parent: number, name: string) => [
        { id: 10, list: 2, name, parent },
        { id: 11, list: 2, name: 'x', parent: 1 },
      ],
    ])('names a hidden row as a missing one, beside broken rules: %#', async (bodyOf) => {
      const send = (parent: number, name: string) =>
        project.ask('/items/entries', { method: 'POST', body: bodyOf(parent, name) });
      const hidden = await send(2, 'new');
      expect(hidden.status).toBe(403);
      expectSameRefusal(await send(9, 'new'), hidden);
      expectSameRefusal(await send(2, 'bob'), hidden);
      expect((await send(1, 'new')).status).toBe(400);
    });

    it('names a hidden row as a missing one, where a later step empties the link', async () => {
      const send = (person: number) => {
        const members = { create: [{ person: 9, open: true }] };
        const body = { members, seats_by_away: { update: [{ id: 5, club: 1, person }] }, seats_by_club: [] };
        return project.ask('/items/clubs/1', { method: 'PATCH', body });
      };
      const [hidden, missing] = [await send(7), await send(8)];
      expectSameRefusal(missing, hidden);
      expect(failure(hidden)).toBe('403 FORBIDDEN');
    });
  });
});
