/** The part of markdown-it that is used here. Its types are left out of the installation. */
interface Token {
  readonly type: string;
  readonly children: Token[] | null;
  hidden: boolean;
  tag: string;
  attrGet(name: string): string | null;
}

interface Markdown {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: { readonly tokens: readonly Token[] }) => void): void };
  };
}

/** Shows links to files of the repository as their text: a page of the site has no address for them. */
export function namesOfFiles(markdown: Markdown): void {
  markdown.core.ruler.push('names-of-files', ({ tokens }) => {
    for (const { children } of tokens) {
      if (children !== null) dropFileLinks(children);
    }
  });
}

function dropFileLinks(children: Token[]): void {
  let isFile = false;
  const kept = children.filter((token) => {
    if (token.type === 'link_open') isFile = leadsToFile(token.attrGet('href') ?? '');
    const dropped = isFile && (token.type === 'link_open' || token.type === 'link_close');
    if (token.type === 'link_close') isFile = false;
    return !dropped;
  });
  children.splice(0, children.length, ...kept);
}

/** True for a relative address of anything but a page. */
export function leadsToFile(address: string): boolean {
  const [path = ''] = address.split('#');
  return path !== '' && !/^[a-z]+:|^\//i.test(path) && !path.endsWith('.md');
}
