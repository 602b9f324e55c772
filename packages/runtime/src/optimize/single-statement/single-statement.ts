/** Fills the seams of writers: creates, updates, trees and links by one statement each. */
import { derivedOnce } from '../../language/values/once.ts';
import type { WriteScope } from '../../write/access/scope.ts';
import type { CreateWriteSeams, WritePlan } from '../../write/write-plan.ts';
import { type DirectWrite, directStep, directWrite, runDirectly } from './direct-write.ts';
import type { LinksPlanCache } from './links/plan-links.ts';
import type { LinksPlan } from './links/print-links.ts';
import { returnedLinks } from './links/returned-links.ts';
import { readKnownTree } from './tree/known-trees.ts';
import type { TreePlan, TreePlanCache } from './tree/plan-tree.ts';
import { isReturned, singleStatementOf, singleStatementTree } from './tree/single-statement-tree.ts';

interface ClassPlans {
  readonly trees: TreePlanCache;
  readonly links: LinksPlanCache;
}

export const createSingleStatements: CreateWriteSeams = ({ driftGuard, createCache }) => {
  const plansOf = derivedOnce<WriteScope, ClassPlans>(() => {
    return { trees: createCache<TreePlan | null>(null), links: createCache<LinksPlan | null>(null) };
  });

  return {
    complete(context, plan, prepared) {
      if (prepared.kind === 'step')
        return planDirectly(plan, directStep(context, plan, prepared.prepare, prepared.keys));
      const { trees, links } = plansOf(context.scope);
      const { root, ready, linked, many } = prepared;
      const direct = linked && directStep(context, plan, linked.prepare, linked.keys);
      if (direct !== undefined) return planDirectly(plan, { ...direct, isExplained: true });
      const tree = ready && singleStatementTree(context, trees, ready, many, plan.returning);
      if (tree !== undefined) return planDirectly(plan, tree);
      return returnedLinks(context, links, root, plan.returning).then((linked) => planDirectly(plan, linked));
    },
    recall(context, { writable, items }, plan) {
      const { returning } = plan;
      const tree = isReturned(context, returning) ? readKnownTree(context, writable, items, returning) : undefined;
      return tree && planDirectly(plan, singleStatementOf(tree));
    },
    wrapBody: (body, plan, request) => runDirectly(body, plan, request, driftGuard),
  };
};

function planDirectly(plan: WritePlan, direct: DirectWrite | undefined): WritePlan {
  return direct === undefined ? plan : directWrite.on(plan, direct);
}
