import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayUseFrom } from '../auth/ip-access.ts';
import { createNetworks, readAddress, subnetOf } from '../environment/networks.ts';
import { createClientAddress } from './client-address.ts';

const v4 = fc.ipV4();
const v6 = fc.ipV6();

function client(proxies: readonly string[], peer: string, forwarded?: string): string | undefined {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return createClientAddress(proxies)(request)?.text;
}

describe('an address', () => {
  it.each([
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::', '::'],
    ['::192.0.2.1', '::c000:201'],
  ])('%s is %s', (text, canonical) => {
    expect(readAddress(text)?.text).toBe(canonical);
  });

  it.each([
    '',
    '1',
    '3221225985',
    '0300.0.2.1',
    '192.0.2',
    '192.0.2.1.',
    '[::1]',
    'localhost',
    '192.0.2.1/32',
    '::1::',
  ])('%j is none', (text) => expect(readAddress(text)).toBeNull());

  it('is the same however it is spelled', () => {
    fc.assert(
      fc.property(v6, (text) => {
        const address = readAddress(text);
        expect(address).not.toBeNull();
        expect(readAddress(address?.text ?? '')).toEqual(address);
        expect(readAddress(text.toUpperCase())).toEqual(address);
        if (address?.family === 'ipv6') expect(address.text).toBe(new URL(`http://[${text}]`).hostname.slice(1, -1));
      }),
    );
    fc.assert(
      fc.property(v4, (text) => {
        expect(readAddress(`::ffff:${text}`)?.text).toBe(text);
      }),
    );
  });
});

describe('one client', () => {
  it('is an address of IPv4, of IPv6 a network of 64 bits', () => {
    const groups = fc.array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const of = (parts: readonly number[]) =>
      subnetOf(readAddress(parts.map((part) => part.toString(16)).join(':')) ?? never());
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        expect(of([...one.slice(0, 4), ...other.slice(4)])).toBe(of(one));
        if (one[3] !== other[3]) expect(of([...one.slice(0, 3), ...other.slice(3)])).not.toBe(of(one));
      }),
    );
    expect(subnetOf(readAddress('::ffff:192.0.2.1') ?? never())).toBe('192.0.2.1');
    expect(subnetOf(readAddress('2001:db8::5') ?? never())).toBe('2001:db8::/64');
  });
});

describe('proxies', () => {
  it('that are not trusted have their headers ignored', () => {
    fc.assert(
      fc.property(v4, fc.string(), (peer, said) => {
        expect(client([], peer, said)).toBe(peer);
      }),
    );
    expect(client(['10.0.0.0/8'], '192.0.2.1', '10.0.0.1')).toBe('192.0.2.1');
  });

  it('are followed back to the first that is not trusted', () => {
    fc.assert(
      fc.property(v4, fc.array(fc.ipV4()), (real, forged) => {
        fc.pre(!real.startsWith('10.'));
        const said = [...forged, real, '10.0.0.2', ' 10.0.0.3 '].join(', ');
        expect(client(['10.0.0.0/8'], '::ffff:10.0.0.1', said)).toBe(real);
      }),
    );
  });

  it('count themselves where nothing else is known', () => {
    expect(client(['10.0.0.0/8'], '10.0.0.1')).toBe('10.0.0.1');
    expect(client(['10.0.0.0/8'], '10.0.0.1', 'unknown')).toBe('10.0.0.1');
    expect(client(['10.0.0.0/8'], '10.0.0.1', '192.0.2.1, _hidden, 10.0.0.2')).toBe('10.0.0.2');
    expect(client(['10.0.0.0/8'], '10.0.0.1', '10.0.0.3,10.0.0.2')).toBe('10.0.0.3');
  });

  it('may add ports', () => {
    expect(client(['::1'], '::1', '192.0.2.1:4711')).toBe('192.0.2.1');
    expect(client(['::1'], '::1', '[2001:DB8::1]:4711')).toBe('2001:db8::1');
  });
});

describe('the list of a role', () => {
  const met = (list: readonly string[], text: string): boolean => mayUseFrom(list, readAddress(text));

  it('that is empty is met by everybody', () => {
    expect(mayUseFrom([], null)).toBe(true);
    expect(mayUseFrom(['0.0.0.0/0', '::/0'], null)).toBe(false);
  });

  it('is met by its addresses and what lies in its blocks', () => {
    const list = ['10.0.0.0/8', '2001:db8::/32', '::ffff:192.0.2.0/120', '::1'];
    for (const text of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8:1::', '192.0.2.77', '::1'])
      expect(met(list, text)).toBe(true);
    for (const text of ['11.0.0.1', '2001:db9::', '192.0.3.1', '::2', '::a01:203']) expect(met(list, text)).toBe(false);
  });

  it('contains no address when its entries are none', () => {
    for (const entry of [
      '10',
      '10.0.0.0/',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      'x',
      '::ffff:10.0.0.0/90',
      '*',
    ]) {
      expect(met([entry], '10.0.0.1')).toBe(false);
    }
  });

  it('takes a block by its first bits', () => {
    const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    fc.assert(
      fc.property(v4, v4, fc.integer({ min: 0, max: 32 }), (network, address, bits) => {
        const first = (text: string): number => Math.floor(number(text) / 2 ** (32 - bits));
        expect(met([`${network}/${bits}`], address)).toBe(first(network) === first(address));
      }),
    );
  });
});

it('networks know all addresses of both families', () => {
  const all = createNetworks(['0.0.0.0/0', '::/0']);
  fc.assert(
    fc.property(fc.oneof(v4, v6), (text) => {
      expect(all.has(readAddress(text) ?? never())).toBe(true);
    }),
  );
});

function never(): never {
  throw new Error('This is an address.');
}
