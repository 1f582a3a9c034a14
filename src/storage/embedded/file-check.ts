import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

/**
 * LMDB trusts its file: where a page is missing or garbled it may take the process down. So the tree of pages is
 * walked once before it is used. Facts about the format: the two first pages are copies of the head, the newer counts;
 * every page begins with its own number; branch pages hold page numbers, leaf pages hold entries, and large values lie
 * on runs of overflow pages.
 */
const META_BYTES = 168;
const MAGIC = 0xbeefc0de;
const PAGE_HEADER_BYTES = 24;
const NODE_HEADER_BYTES = 8;
const BRANCH_PAGE = 0x01;
const LEAF_PAGE = 0x02;
const OVERFLOW_PAGE = 0x04;
/** A leaf's entry whose value lies on overflow pages. */
const BIG_VALUE = 0x01;
/** A leaf's entry that describes a table. */
const TABLE_VALUE = 0x02;
const TABLE_ROOT_OFFSET = 40;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const LMDB_VERSION = 2;
const PAGE_SIZES = [4096, 8192, 16_384, 32_768, 65_536];
const MAX_MAP_BYTES = 1n << 46n;

/** Walking this many pages (256 MiB) takes some tenths of a second; larger files are checked in part. */
const MAX_PAGES_WALKED = 65_536;

interface Meta {
  readonly pageSize: number;
  readonly transaction: bigint;
  readonly roots: readonly bigint[];
}

class Damage extends Error {}

/** Says what is wrong with the head of an LMDB file; undefined when nothing is, also when the file is absent or empty. */
export function findHeadDamage(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size ? examine(path, readMeta) : undefined;
}

/** Says what is wrong with an LMDB file; undefined when nothing was found. It must not be written to meanwhile. */
export function findDamage(path: string): string | undefined {
  return examine(path, (descriptor, size) => {
    walk(descriptor, size, readMeta(descriptor, size));
  });
}

function examine(path: string, look: (descriptor: number, size: number) => unknown): string | undefined {
  const descriptor = openSync(path, 'r');
  try {
    look(descriptor, fstatSync(descriptor).size);
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The newer of the two heads. */
function readMeta(descriptor: number, size: number): Meta {
  const first = parseMeta(readAt(descriptor, 0, META_BYTES));
  if (size < 2 * first.pageSize) throw new Damage(`it has ${size} bytes, its head alone has ${2 * first.pageSize}`);
  const second = parseMeta(readAt(descriptor, first.pageSize, META_BYTES));
  return second.transaction > first.transaction ? second : first;
}

function parseMeta(bytes: Buffer): Meta {
  if (bytes.length < META_BYTES || bytes.readUInt32LE(24) !== MAGIC)
    throw new Damage('it does not begin as an LMDB file');
  const version = bytes.readUInt32LE(28);
  if (version !== LMDB_VERSION) throw new Damage(`its LMDB version is ${version}, not ${LMDB_VERSION}`);
  const pageSize = bytes.readUInt32LE(48);
  if (!PAGE_SIZES.includes(pageSize) || bytes.readBigUInt64LE(40) > MAX_MAP_BYTES)
    throw new Damage('its head is garbled');
  return {
    pageSize,
    roots: [bytes.readBigUInt64LE(48 + TABLE_ROOT_OFFSET), bytes.readBigUInt64LE(96 + TABLE_ROOT_OFFSET)],
    transaction: bytes.readBigUInt64LE(152),
  };
}

function walk(descriptor: number, size: number, { pageSize, roots }: Meta): void {
  const pageCount = BigInt(Math.floor(size / pageSize));
  const waiting = roots.filter((root) => root !== NO_PAGE);
  for (let walked = 0; waiting.length > 0 && walked < MAX_PAGES_WALKED; walked++) {
    const number = waiting.pop()!;
    const page = readPage(number);
    const isBranch = (flagsOf(page) & BRANCH_PAGE) !== 0;
    if (!isBranch && (flagsOf(page) & LEAF_PAGE) === 0) throw new Damage(`page ${number} is neither branch nor leaf`);
    for (const node of nodesOf(page, number)) {
      if (isBranch) {
        waiting.push(BigInt(node.readUInt32LE(0)) + (BigInt(node.readUInt16LE(4)) << 32n));
      } else {
        const value = node.subarray(NODE_HEADER_BYTES + node.readUInt16LE(6));
        const flags = node.readUInt16LE(4);
        if ((flags & BIG_VALUE) !== 0) checkOverflow(value.readBigUInt64LE(0), value.readBigUInt64LE(16));
        const root = (flags & TABLE_VALUE) === 0 ? NO_PAGE : value.readBigUInt64LE(TABLE_ROOT_OFFSET);
        if (root !== NO_PAGE) waiting.push(root);
      }
    }
  }

  function readPage(number: bigint): Buffer {
    if (number >= pageCount) throw new Damage(`page ${number} is needed, the file ends after ${pageCount}`);
    const page = readAt(descriptor, Number(number) * pageSize, pageSize);
    if (page.readBigUInt64LE(0) !== number) throw new Damage(`page ${number} is garbled`);
    return page;
  }

  function checkOverflow(number: bigint, count: bigint): void {
    if ((flagsOf(readPage(number)) & OVERFLOW_PAGE) === 0) throw new Damage(`page ${number} holds no large value`);
    if (number + count > pageCount) {
      throw new Damage(`page ${number + count - 1n} is needed, the file ends after ${pageCount}`);
    }
  }
}

function flagsOf(page: Buffer): number {
  return page.readUInt16LE(18);
}

function* nodesOf(page: Buffer, number: bigint): Iterable<Buffer> {
  const count = page.readUInt16LE(20) >> 1;
  for (let index = 0; index < count; index++) {
    const pointer = PAGE_HEADER_BYTES + 2 * index;
    const start = pointer + 2 <= page.length ? PAGE_HEADER_BYTES + page.readUInt16LE(pointer) : page.length;
    const node = page.subarray(start);
    const needed = node.length < NODE_HEADER_BYTES ? NODE_HEADER_BYTES : NODE_HEADER_BYTES + node.readUInt16LE(6);
    if (node.length < needed) throw new Damage(`page ${number} is garbled`);
    yield node;
  }
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}
