/** Routes of every form. */
import type { TeamsItem } from '../expected/collections/teams.js';
import { defineExtension } from '../expected/extension.js';
import type { Period } from './lib/period.ts';

interface Summary {
  readonly params: { readonly id: number };
  readonly query: { readonly order?: 'newest' | 'oldest'; readonly tag?: readonly string[] };
  readonly response: readonly Pick<TeamsItem, 'id' | 'name'>[];
}

interface Merge {
  readonly params: { readonly id: number };
  readonly body: {
    readonly teams: readonly number[];
    readonly period: Period;
    readonly note: string | null;
    readonly more?: Readonly<Record<string, unknown>>;
  };
}

export default defineExtension(({ route }) => {
  route<Summary>('GET /teams/:id/summary', { roles: ['public', 'member'] }, async ({ params, query, items }) => {
    const sort = query.order === 'newest' ? '-id' : 'id';
    return items('teams').list({ fields: ['id', 'name'], filter: { id: params.id }, sort: [sort] });
  });
  route<Merge>('POST /teams/:id/merge', { roles: ['member'] }, async ({ params, body, transaction }) => {
    await transaction((items) => items('notes').update(body.teams, { team_id: params.id }));
  });
  route('DELETE /teams/all', { roles: [] }, () => {});
});
