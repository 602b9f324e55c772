/** IP addresses in one spelling each, and blocks of them. */
import { BlockList, isIP } from 'node:net';

/** An address as this module gives it: IPv4, or IPv6 in lower case and compressed. */
export interface Address {
  readonly text: string;
  readonly family: 'ipv4' | 'ipv6';
}

/** Addresses that belong together. */
export interface Networks {
  has(address: Address): boolean;
}

/** Reads an address, or null. It drops the zone of IPv6, and makes mapped IPv4 (`::ffff:192.0.2.1`) plain IPv4. */
export function readAddress(text: string): Address | null {
  const [bare = ''] = text.trim().split('%');
  const family = isIP(bare);
  if (family === 0) return null;
  if (family === 4) return { text: bare, family: 'ipv4' };
  const groups = groupsOf(bare);
  const mapped = mappedOf(groups);
  return mapped === null ? { text: printGroups(groups), family: 'ipv6' } : { text: mapped, family: 'ipv4' };
}

/** Addresses that count as one client: one IPv4 address, or the 64-bit network that a customer gets of IPv6. Empty for none. */
export function subnetOf(address: Address | null): string {
  if (address === null) return '';
  const { text, family } = address;
  if (family === 'ipv4') return text;
  return `${printGroups([...groupsOf(text).slice(0, 4), 0, 0, 0, 0])}/64`;
}

/** The client that a request came from. */
export function clientOf({ ip }: { readonly ip: string | null }): string {
  return subnetOf(readAddress(ip ?? ''));
}

/** The network of an address that names no household: 24 bits of IPv4, 48 of IPv6. */
export function networkOf({ text, family }: Address): string {
  if (family === 'ipv4') return text.replace(/\d+$/, '0/24');
  return `${printGroups([...groupsOf(text).slice(0, 3), 0, 0, 0, 0, 0])}/48`;
}

/** Makes networks of addresses and CIDR blocks. Other texts contain no address. */
export function createNetworks(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const text of texts) {
    const network = readNetwork(text);
    if (network !== null) list.addSubnet(network.address.text, network.bits, network.address.family);
  }
  return { has: ({ text, family }) => list.check(text, family) };
}

/** True if a text is an address or a CIDR block. */
export function isNetwork(text: string): boolean {
  return readNetwork(text) !== null;
}

/** An address or a CIDR block; null for anything else. */
function readNetwork(text: string): { readonly address: Address; readonly bits: number } | null {
  const [base = '', length, ...more] = text.trim().split('/');
  const address = readAddress(base);
  if (address === null || more.length > 0) return null;
  const written = isIP(base.split('%')[0] ?? '') === 4 ? 32 : 128;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const bits = length === undefined ? written : Number(length);
  // A block of mapped addresses is one of IPv4 as long as it holds nothing else.
  const ownBits = address.family === 'ipv4' && written === 128 ? bits - 96 : bits;
  return bits <= written && ownBits >= 0 ? { address, bits: ownBits } : null;
}

/** The eight groups of an IPv6 address, in any spelling. */
function groupsOf(text: string): readonly number[] {
  const [head = '', tail] = text.split('::');
  const first = readGroups(head);
  if (tail === undefined) return first;
  const last = readGroups(tail);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** Groups between colons; the last may be written as an address of IPv4, which is two. */
function readGroups(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The shortest spelling: the longest run of zeros, the first of several, is left out (RFC 5952, section 4). */
function printGroups(groups: readonly number[]): string {
  let start = 0;
  let length = 1;
  for (let index = 0, run = 0; index < groups.length; index++) {
    run = groups[index] === 0 ? run + 1 : 0;
    if (run > length) [start, length] = [index - run + 1, run];
  }
  const print = (some: readonly number[]): string => some.map((group) => group.toString(16)).join(':');
  return length === 1 ? print(groups) : `${print(groups.slice(0, start))}::${print(groups.slice(start + length))}`;
}

/** The address of IPv4 that one of IPv6 stands for (RFC 4291, section 2.5.5.2). */
function mappedOf(groups: readonly number[]): string | null {
  const [high = 0, low = 0] = groups.slice(6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return mapped ? `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}` : null;
}
