/** The commands and their options, as the command line parses them. */
import { exitCodeHelp, program } from '../../packages/cli/src/command-line.ts';
import { code, sentence, table } from './markdown.ts';

type Command = ReturnType<typeof program>;
type Option = Command['options'][number];

/** Options that every command takes, told once. */
const common = ['--project', '--json', '--notes'];

/** Guides by command. */
const guides: Readonly<Record<string, string>> = {
  init: '../quickstart/existing-database.md',
  migrate: '../system-tables.md',
  generate: '../cli.md#checking',
  check: '../cli.md#checking',
  diff: '../diff.md',
  doctor: '../cli.md#the-doctor',
  can: '../explaining.md',
  explain: '../explaining.md',
  dev: '../development.md',
  start: '../operations.md',
  'permissions diff': '../permissions.md#in-the-file-or-in-the-tables',
  'permissions matrix': '../explaining.md',
  openapi: '../openapi.md',
  graphql: '../graphql-schema.md',
  'users create': '../auth.md',
};

/** Every command with its options. */
export function printCommands(): string {
  const commands = leaves(program());
  const overview = commands.map(({ name, command }) => [
    `[\`platform ${name}\`](#${anchor(name)})`,
    sentence(command.description()),
  ]);
  const options = commands[0]?.command.options.filter(isCommon) ?? [];
  return [
    table(['Command', 'Does'], overview),
    'Every command takes these options:',
    optionTable(options),
    ...commands.map(printCommand),
  ].join('\n\n');
}

/** The exit codes, in the words of help. */
export function printExitCodes(): string {
  const codes = exitCodeHelp.split(/\n {2}(?=\d)/).slice(1);
  return table(
    ['Code', 'Meaning'],
    codes.map((text) => {
      const [number = '', ...words] = text.trim().split(/\s+/);
      return [code(number), sentence(words.join(' '))];
    }),
  );
}

interface Leaf {
  /** With the names of the commands that it belongs to: `users list`. */
  readonly name: string;
  readonly command: Command;
}

function leaves(command: Command, path: readonly string[] = []): readonly Leaf[] {
  return command.commands.flatMap((child) => {
    const own = [...path, child.name()];
    return child.commands.length === 0 ? [{ name: own.join(' '), command: child }] : leaves(child, own);
  });
}

function printCommand({ name, command }: Leaf): string {
  const options = command.options.filter((option) => !isCommon(option));
  const parameters = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const usage = ['platform', name, ...parameters, ...(options.length > 0 ? ['[options]'] : [])].join(' ');
  const guide = guides[name];
  return [
    `### platform ${name}`,
    `${sentence(command.description())}${guide === undefined ? '' : ` See [the guide](${guide}).`}`,
    `\`\`\`text\n${usage}\n\`\`\``,
    ...(options.length > 0 ? [optionTable(options)] : []),
  ].join('\n\n');
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', 'Does'],
    options.map((option) => [code(option.flags), `${sentence(option.description)}${absence(option)}`]),
  );
}

function absence({ defaultValue, mandatory }: Option): string {
  if (mandatory) return ' Required.';
  return typeof defaultValue === 'string' ? ` Default: ${code(defaultValue)}.` : '';
}

function isCommon({ long }: Option): boolean {
  return common.includes(long ?? '');
}

function anchor(name: string): string {
  return `platform-${name.replaceAll(' ', '-')}`;
}
