/** The examples of documentation pages: requests, each with the answer that is written behind it. */

/** A request of the documentation. */
export interface Example {
  readonly request: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when the request has none. */
  readonly body: string;
  /** The answer as text of JSON; null when the page shows none, because there is no body. */
  readonly answer: string | null;
}

/** Requests are blocks of `http`; the next block of `json` before the next heading answers all since the last one. */
export function readExamples(page: string): readonly Example[] {
  const examples: Example[] = [];
  let waiting: string[] = [];
  const end = (answer: string | null): void => {
    examples.push(...waiting.map((request) => exampleOf(request, answer)));
    waiting = [];
  };
  for (const [heading, language, text = ''] of page.matchAll(/^```(http|json)\n([\s\S]*?)^```$|^#+ .*$/gm)) {
    if (language === 'http') waiting.push(text);
    else end(heading.startsWith('#') ? null : text);
  }
  end(null);
  return examples;
}

function exampleOf(request: string, answer: string | null): Example {
  const [head = '', ...body] = request.split('\n\n');
  const [first = '', ...lines] = head.trim().split('\n');
  const [method = '', path = ''] = first.split(' ', 2);
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ', 2)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
  );
  return { request, method, path, headers, body: body.join('\n\n'), answer };
}

/** Texts of the blocks of a language. */
export function blocksOf(page: string, language: string): readonly string[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(([, text = '']) => text);
}
