import type { CustomRoute } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { TypedRoute } from './type-routes.ts';

/** Tells which classes may call each route; roles of one class may call the same. */
export function grantRoutes({ access }: Pick<Api, 'access'>, routes: readonly TypedRoute[]): readonly CustomRoute[] {
  const granted = routes.map(({ method, path, roles, ...types }): CustomRoute => {
    const classes = access.filter(
      ({ access: candidate }) => candidate.admin || candidate.roles.some((role) => roles.includes(role)),
    );
    return { method, path, access: classes.map(({ access: granted }) => granted.name), ...types };
  });
  const order = ({ method, path }: CustomRoute): string => `${path} ${method}`;
  return granted.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
