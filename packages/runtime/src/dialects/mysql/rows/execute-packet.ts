/**
 * The packet that runs a prepared statement.
 *
 * Source: https://mariadb.com/kb/en/com_stmt_execute/, https://dev.mysql.com/doc/dev/mysql-server (the same).
 */
import type { SentParameter } from '../../../database/parameter-forms.ts';

const command = 0x17;
const types = { missing: 6, integer: 8, text: 253 } as const;
/** Length of the packet, its number, command, statement, flags, and how often it runs. */
const headSize = 14;
/** Bytes in a packet that goes on in the next one. */
export const maxPacketBytes = 0xff_ffff;
const packetHead = 4;

/** Prints the request that runs a prepared statement with its parameters: one packet, or several if very long. */
export function printExecute(statement: number, parameters: readonly SentParameter[]): Buffer {
  const count = parameters.length;
  const bitmapSize = (count + 7) >> 3;
  // Null bitmap, flag that types follow, the types.
  const valuesAt = count === 0 ? headSize : headSize + bitmapSize + 1 + 2 * count;
  let size = valuesAt;
  for (const parameter of parameters) size += sizeOf(parameter);
  const packet = Buffer.allocUnsafe(size);
  packet.fill(0, 0, valuesAt);
  packet[4] = command;
  packet.writeUInt32LE(statement, 5);
  packet[10] = 1;
  if (count > 0) packet[headSize + bitmapSize] = 1;
  let offset = valuesAt;
  let typeAt = headSize + bitmapSize + 1;
  for (let index = 0; index < count; index++) {
    const parameter = parameters[index] ?? null;
    if (parameter === null) {
      const position = headSize + (index >> 3);
      packet[position] = (packet[position] ?? 0) | (1 << (index & 7));
    }
    packet[typeAt] = typeOf(parameter);
    typeAt += 2;
    offset = put(packet, offset, parameter);
  }
  return framed(packet);
}

function typeOf(parameter: SentParameter): number {
  if (parameter === null) return types.missing;
  return typeof parameter === 'bigint' ? types.integer : types.text;
}

function sizeOf(parameter: SentParameter): number {
  if (parameter === null) return 0;
  if (typeof parameter === 'bigint') return 8;
  const length = Buffer.byteLength(parameter);
  return lengthSize(length) + length;
}

/** Writes a value and returns where it ends. */
function put(packet: Buffer, offset: number, parameter: SentParameter): number {
  if (parameter === null) return offset;
  if (typeof parameter === 'bigint') return packet.writeBigInt64LE(parameter, offset);
  const length = Buffer.byteLength(parameter);
  const from = putLength(packet, offset, length);
  return from + packet.write(parameter, from);
}

/** Bytes that a length takes. */
function lengthSize(length: number): number {
  if (length < 251) return 1;
  if (length <= 0xffff) return 3;
  return length <= 0xff_ffff ? 4 : 9;
}

function putLength(packet: Buffer, offset: number, length: number): number {
  switch (lengthSize(length)) {
    case 1:
      packet[offset] = length;
      return offset + 1;
    case 3:
      packet[offset] = 252;
      return packet.writeUInt16LE(length, offset + 1);
    case 4:
      packet[offset] = 253;
      return packet.writeUIntLE(length, offset + 1, 3);
    default:
      packet[offset] = 254;
      return packet.writeBigUInt64LE(BigInt(length), offset + 1);
  }
}

/** Prepends lengths and numbers. After a packet of maximum size another one must follow, even an empty one. */
function framed(packet: Buffer): Buffer {
  const length = packet.length - packetHead;
  if (length < maxPacketBytes) {
    packet.writeUIntLE(length, 0, 3);
    return packet;
  }
  const parts: Buffer[] = [];
  for (let from = 0; from <= length; from += maxPacketBytes) {
    const part = packet.subarray(packetHead + from, packetHead + Math.min(length, from + maxPacketBytes));
    const head = Buffer.alloc(packetHead);
    head.writeUIntLE(part.length, 0, 3);
    head[3] = parts.length / 2;
    parts.push(head, part);
  }
  return Buffer.concat(parts);
}
