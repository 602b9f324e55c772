/** Fills the seams of writers: creates, updates, trees and links by one statement each. */
import type { WriteScope } from '../../write/access/scope.ts';
import type { CreateWriteSeams } from '../../write/write-plan.ts';
import { type DirectWrite, directStep, directWrite, runDirectly } from './direct-write.ts';
import type { LinksPlan } from './links/links-plan.ts';
import type { LinksPlanCache } from './links/plan-links.ts';
import { returnedLinks } from './links/returned-links.ts';
import { readKnownTree } from './tree/known-trees.ts';
import type { TreePlanCache } from './tree/plan-tree.ts';
import { isReturned, singleStatementOf, singleStatementTree } from './tree/single-statement-tree.ts';
import type { TreePlan } from './tree/tree-plan.ts';

/** Plans of one access class. */
interface ClassPlans {
  readonly trees: TreePlanCache;
  readonly links: LinksPlanCache;
}

/** Makes the seams. */
export const createSingleStatements: CreateWriteSeams = ({ driftGuard, createCache }) => {
  const classes = new WeakMap<WriteScope, ClassPlans>();

  function plansOf(scope: WriteScope): ClassPlans {
    const cached = classes.get(scope);
    if (cached !== undefined) return cached;
    const plans = { trees: createCache<TreePlan | null>(null), links: createCache<LinksPlan | null>(null) };
    classes.set(scope, plans);
    return plans;
  }

  return {
    async complete(context, plan, prepared) {
      const { trees, links } = plansOf(context.scope);
      const { returning } = plan;
      let direct: DirectWrite | undefined;
      if (prepared.kind === 'step') direct = directStep(context, plan, prepared.prepare, prepared.keys);
      else {
        const { root, ready, many } = prepared;
        direct = ready && singleStatementTree(context, trees, ready, many, returning);
        direct ??= await returnedLinks(context, links, root, returning);
      }
      return direct === undefined ? plan : directWrite.on(plan, direct);
    },
    recall(context, { writable, items }, plan) {
      const { returning } = plan;
      const tree = isReturned(context, returning) ? readKnownTree(context, writable, items, returning) : undefined;
      return tree && directWrite.on(plan, singleStatementOf(tree));
    },
    wrapBody: (body, plan, request) => runDirectly(body, plan, request, driftGuard),
  };
};
