/** The texts of mails: Handlebars files that a project may replace, one by one, by files of the same name. */
import Handlebars from 'handlebars';
import { readTemplates, strictly, TemplateError, textOf } from '../template-files.ts';

/** Values that every template may print. */
interface MailView {
  readonly project: string;
  /** Address of the recipient. */
  readonly email: string;
}

/** Values that a template with a link may print. */
interface LinkView extends MailView {
  /** Address that the mail leads to. */
  readonly link: string;
  /** Time that the link works: `7 days`. */
  readonly validFor: string;
}

/** Values that a template about a comment may print. */
interface MentionView extends MailView {
  readonly collection: string;
  /** Key of the item, in path form. */
  readonly item: string;
  readonly comment: string;
}

/** Kinds of mail, with the values that their templates may print. */
interface Mails {
  readonly invite: LinkView;
  readonly 'password-reset': LinkView;
  readonly mention: MentionView;
}

type MailName = keyof Mails;

const linkSample: LinkView = {
  project: 'Project',
  link: 'http://localhost/',
  email: 'a@example.com',
  validFor: '1 day',
};
const mentionSample: MentionView = {
  project: 'Project',
  email: 'a@example.com',
  collection: 'articles',
  item: '1',
  comment: 'Look!',
};
const samples: Mails = { invite: linkSample, 'password-reset': linkSample, mention: mentionSample };
const mailNames: readonly MailName[] = ['invite', 'password-reset', 'mention'];

/** A mail as it is read. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Writes letters. Throws when a template uses an undefined value. */
export type WriteLetter = <N extends MailName>(name: N, view: Mails[N]) => Letter;

const parts = ['subject', 'text', 'html'] as const;
const layout = 'layout.html.hbs';
const fileNames: readonly string[] = [layout, ...mailNames.flatMap((name) => parts.map((part) => fileOf(name, part)))];

/**
 * Reads and compiles the templates, those in `folder` in place of the platform's own; null for none. Throws
 * `TemplateError` for a file that replaces none, and for one that cannot be printed.
 */
export function loadMailTemplates(folder: string | null): WriteLetter {
  const texts = readTemplates('mail', folder, fileNames);
  const engine = Handlebars.create();
  engine.registerPartial('layout', engine.compile(textOf(texts, layout), strictly));
  const writers = new Map(mailNames.map((name) => [name, compile(engine, texts, name)]));
  // The platform's own are printed by tests: compiling them is left to the first mail.
  if (folder !== null) for (const name of mailNames) check(name, writers.get(name));
  return (name, view) => (writers.get(name) ?? unknown(name))(view);
}

/** Values are escaped in HTML; in subject and text they are printed as they are. */
function compile(engine: typeof Handlebars, texts: ReadonlyMap<string, string>, name: MailName) {
  const [subject, text, html] = parts.map((part) => {
    const source = textOf(texts, fileOf(name, part));
    return engine.compile<Mails[MailName]>(source, { ...strictly, noEscape: part !== 'html' });
  });
  return (view: Mails[MailName]): Letter => ({
    subject: oneLine(subject?.(view) ?? ''),
    text: text?.(view) ?? '',
    html: html?.(view) ?? '',
  });
}

/** Returns a text as one line, as a header must be. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim();
}

/** Prints a template once, because its errors show only then. */
function check(name: MailName, write: ((view: Mails[MailName]) => Letter) | undefined): void {
  try {
    write?.(samples[name]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemplateError(`The templates of the mail "${name}" cannot be printed: ${reason}`);
  }
}

function fileOf(name: MailName, part: (typeof parts)[number]): string {
  return `${name}.${part}.hbs`;
}

function unknown(name: string): never {
  throw new TemplateError(`There is no mail "${name}".`);
}
