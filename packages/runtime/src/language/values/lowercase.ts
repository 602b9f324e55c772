/**
 * Lower case that does not depend on the locale of a database. It maps the capital letters of Unicode 17 that stay as
 * they are under NFKC and have one small letter. `String.prototype.toLowerCase` maps them in the same way.
 *
 * Part of the text of a released migration, so it never changes.
 */

/** `first-last/step+distance`, the first two hexadecimal; a single letter has no last, a step of 1 is left out. */
const ranges = `
41-5a+32 c0-d6+32 d8-de+32 100-12e/2+1 134-136/2+1 139-13d/2+1 141-147/2+1 14a-176/2+1 178-121 179-17d/2+1 181+210
182-184/2+1 186+206 187+1 189-18a+205 18b+1 18e+79 18f+202 190+203 191+1 193+205 194+207 196+211 197+209 198+1 19c+211
19d+213 19f+214 1a0-1a4/2+1 1a6+218 1a7+1 1a9+218 1ac+1 1ae+218 1af+1 1b1-1b2+217 1b3-1b5/2+1 1b7+219 1b8+1 1bc+1
1cd-1db/2+1 1de-1ee/2+1 1f4+1 1f6-97 1f7-56 1f8-21e/2+1 220-130 222-232/2+1 23a+10795 23b+1 23d-163 23e+10792 241+1
243-195 244+69 245+71 246-24e/2+1 370-372/2+1 376+1 37f+116 386+38 388-38a+37 38c+64 38e-38f+63 391-3a1+32 3a3-3ab+32
3cf+8 3d8-3ee/2+1 3f7+1 3fa+1 3fd-3ff-130 400-40f+80 410-42f+32 460-480/2+1 48a-4be/2+1 4c0+15 4c1-4cd/2+1 4d0-52e/2+1
531-556+48 10a0-10c5+7264 10c7+7264 10cd+7264 13a0-13ef+38864 13f0-13f5+8 1c89+1 1c90-1cba-3008 1cbd-1cbf-3008
1e00-1e94/2+1 1e9e-7615 1ea0-1efe/2+1 1f08-1f0f-8 1f18-1f1d-8 1f28-1f2f-8 1f38-1f3f-8 1f48-1f4d-8 1f59-1f5f/2-8
1f68-1f6f-8 1f88-1f8f-8 1f98-1f9f-8 1fa8-1faf-8 1fb8-1fb9-8 1fba-74 1fbc-9 1fc8-1fca/2-86 1fcc-9 1fd8-1fd9-8 1fda-100
1fe8-1fe9-8 1fea-112 1fec-7 1ff8-128 1ffa-126 1ffc-9 2132+28 2183+1 2c00-2c2f+48 2c60+1 2c62-10743 2c63-3814
2c64-10727 2c67-2c6b/2+1 2c6d-10780 2c6e-10749 2c6f-10783 2c70-10782 2c72+1 2c75+1 2c7e-2c7f-10815 2c80-2ce2/2+1
2ceb-2ced/2+1 2cf2+1 a640-a66c/2+1 a680-a69a/2+1 a722-a72e/2+1 a732-a76e/2+1 a779-a77b/2+1 a77d-35332 a77e-a786/2+1
a78b+1 a78d-42280 a790-a792/2+1 a796-a7a8/2+1 a7aa-42308 a7ab-42319 a7ac-42315 a7ad-42305 a7ae-42308 a7b0-42258
a7b1-42282 a7b2-42261 a7b3+928 a7b4-a7c2/2+1 a7c4-48 a7c5-42307 a7c6-35384 a7c7-a7c9/2+1 a7cb-42343 a7cc-a7da/2+1
a7dc-42561 a7f5+1 10400-10427+40 104b0-104d3+40 10570-1057a+39 1057c-1058a+39 1058c-10592+39 10594-10595+39
10c80-10cb2+64 10d50-10d65+32 118a0-118bf+32 16e40-16e5f+32 16ea0-16eb8+27 1e900-1e921+34
`;

/** Every capital letter, and at the same place in `small` its small letter. */
export const { capitals, small } = spell(ranges);

function spell(text: string): { readonly capitals: string; readonly small: string } {
  const letters = text.trim().split(/\s+/).flatMap(lettersOf);
  return {
    capitals: letters.map(([capital]) => String.fromCodePoint(capital)).join(''),
    small: letters.map(([capital, distance]) => String.fromCodePoint(capital + distance)).join(''),
  };
}

function lettersOf(range: string): readonly (readonly [number, number])[] {
  const [, first = '', last = first, step = '1', distance = ''] =
    /^([0-9a-f]+)(?:-([0-9a-f]+))?(?:\/(\d))?([+-]\d+)$/.exec(range) ?? [];
  const start = Number.parseInt(first, 16);
  const count = Math.floor((Number.parseInt(last, 16) - start) / Number(step)) + 1;
  return Array.from({ length: count }, (_, index) => [start + index * Number(step), Number(distance)]);
}

const smallLetters = [...small];
const lowercase: ReadonlyMap<string, string> = new Map(
  [...capitals].map((capital, index) => [capital, smallLetters[index] ?? capital]),
);

/** Returns an address without differences in compatibility forms and case, for comparison. */
export function normalEmail(email: string): string {
  return [...email.normalize('NFKC')].map((letter) => lowercase.get(letter) ?? letter).join('');
}

/** The same of a JSON array of addresses, as one of `{ place, normal }`: those that are one stand where the first stood. */
export function normalEmails(emails: string): string {
  const list: readonly string[] = JSON.parse(emails);
  const places = new Map<string, number>();
  for (const [index, email] of list.entries()) {
    const normal = normalEmail(email);
    if (!places.has(normal)) places.set(normal, index);
  }
  return JSON.stringify([...places].map(([normal, index]) => ({ place: index, normal })));
}
