/** Sounds and films, as short as they can be, made byte by byte. */

/** A WAV file: silence of so many seconds, 8,000 bytes each. */
export function wav(seconds: number): Buffer {
  const size = seconds * 8_000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + size, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(size, 40);
  return Buffer.concat([head, Buffer.alloc(size, 128)]);
}

/** The head of a WebM film, which says how long it lasts; there are no pictures in it. */
export function webm(seconds: number): Buffer {
  const milliseconds = Buffer.alloc(8);
  milliseconds.writeDoubleBE(seconds * 1_000);
  const info = [element('2ad7b1', Buffer.from([0x0f, 0x42, 0x40])), element('4489', milliseconds)];
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm'))),
    element('18538067', element('1549a966', ...info)),
  ]);
}

/** An element of EBML: its name, its length, and what is in it, less than 127 bytes. */
function element(name: string, ...content: readonly Buffer[]): Buffer {
  const inner = Buffer.concat(content);
  return Buffer.concat([Buffer.from(name, 'hex'), Buffer.from([0x80 | inner.length]), inner]);
}
