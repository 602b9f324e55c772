import {
  type AccessRule,
  allNames,
  type CollectionAccess,
  type CollectionDescriptor,
  type Condition,
  type FunctionAccess,
  isAlways,
  type Operand,
  type WriteRule,
} from '@tablewright/runtime/language';
import type { ApiAccess, ApiCollection } from '../api.ts';
import { code, createCalls, printOpen, printValue, type Value } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { commentText, widthOf } from '../print/text.ts';
import { conditionNames, createConditions, stateLiteral } from './conditions.ts';
import type { Render } from './templates.ts';

/** Prints the file of one access class: its permissions, with names for conditions that rules have in common. */
export function emitAccess(
  { access, constant }: ApiAccess,
  collections: ReadonlyMap<string, ApiCollection>,
  render: Render,
): string {
  const { name, roles, admin } = access;
  const granted = access.collections.flatMap((entry) => {
    const collection = collections.get(entry.collection);
    return collection === undefined ? [] : [{ entry, collection }];
  });
  const named = conditionNames(
    access.collections,
    granted.map(({ collection }) => collection.names.constant),
  );
  const printer = createPrinter(named.nameOf);
  const value = {
    name,
    roles,
    admin,
    ...(access.exempt === true && { exempt: true }),
    collections: granted.map(({ entry, collection }) =>
      printer.access(collection.names.constant, entry, collection.descriptor),
    ),
    functions: access.functions?.map(printer.call),
  };
  const conditions = named.conditions.map(({ name, condition }) => {
    const start = `const ${name} = `;
    return `${start}${printValue(printer.definition(condition), widthOf(start), 1, 0)};`;
  });
  const text = printOpen(value, 0);
  const summary = commentText(`Access of ${access.roles.join(', ')}.`);
  return render('access', {
    about: summary,
    imports: printImports([
      {
        from: '@tablewright/runtime',
        names: ['accessClass', ...printer.used()],
      },
      ...granted.map(({ collection: { names } }) => ({ from: `../routes/${names.file}.js`, names: [names.constant] })),
    ]),
    conditions: conditions.join('\n'),
    summary,
    constant,
    access: text,
  });
}

function createPrinter(nameOf: (condition: Condition) => string | null) {
  const calls = createCalls();
  const { call: build, used } = calls;
  const { state: print, stateDefinition: definition, stateOperand: printOperand } = createConditions(calls, nameOf);

  function readRules(rules: readonly AccessRule[] | undefined, all: readonly string[]): Value {
    if (rules === undefined) return undefined;
    return isEverything(rules, all) ? '*' : rules.map((rule) => readRule(rule, all));
  }

  function readRule({ fields, where }: AccessRule, all: readonly string[]) {
    return { fields: isAll(fields, all) ? '*' : fields, where: isAlways(where) ? undefined : print(where) };
  }

  function writeRules(rules: readonly WriteRule[] | undefined, all: readonly string[]): Value {
    if (rules === undefined) return undefined;
    const isPlain = rules.every(({ check, presets }) => check === null && presets.length === 0);
    if (isPlain && isEverything(rules, all)) return '*';
    return rules.map((rule) => ({
      ...readRule(rule, all),
      check: rule.check === null ? undefined : print(rule.check),
      presets:
        rule.presets.length === 0
          ? undefined
          : rule.presets.map(({ field, value }) => ({ field, value: printPreset(value) })),
    }));
  }

  function deleteRule({ where, purge }: AccessRule): Value {
    return { where: isAlways(where) && purge ? undefined : print(where), purge };
  }

  /** Presets are operands: nothing else tells that one is a literal. */
  function printPreset(operand: Operand): Value {
    return operand.kind === 'literal' ? stateLiteral(operand) : printOperand(operand);
  }

  function access(constant: string, entry: CollectionAccess, descriptor: CollectionDescriptor): Value {
    const { read, create, update, delete: remove } = entry;
    const all = allNames(descriptor);
    return build('grant', code(constant), {
      read: readRules(read, all),
      create: writeRules(create, all),
      update: writeRules(update, all),
      delete: remove && (isEverything(remove, []) ? '*' : remove.map(deleteRule)),
    });
  }

  function callable({ function: name, args }: FunctionAccess): Value {
    return { function: name, args: args?.map((arg) => ({ name: arg.name, value: printPreset(arg.value) })) };
  }

  return { used: () => [...used], definition, access, call: callable };
}

/** All rows and fields, by one rule. */
function isEverything(rules: readonly AccessRule[], all: readonly string[]): boolean {
  const [rule, ...others] = rules;
  return (
    rule !== undefined && others.length === 0 && rule.purge !== true && isAlways(rule.where) && isAll(rule.fields, all)
  );
}

function isAll(fields: readonly string[], all: readonly string[]): boolean {
  return fields.length === all.length && fields.every((name, index) => name === all[index]);
}
