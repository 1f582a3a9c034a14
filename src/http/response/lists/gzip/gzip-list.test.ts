import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { CacheEntry } from '../../../../storage/cache/cache';
import { DeflatedChunks } from './deflated-chunks';
import { GzipFile } from './gzip-file';
import { gzipListPieces } from './gzip-list';
import type { ItemForm } from '../item-form';
import { listPieces, type ListParts } from '../list-parts';
import { protobufEnvelope, protobufItems } from '../protobuf-list';

const MIB = 1024 * 1024;
const never = new AbortController().signal;

const json: ItemForm = {
  separator: Buffer.from(','),
  shared: true,
  joinable: false,
  atOnce: 200,
  weight: 1,
  pieces: (entries, from, to) =>
    entries.slice(from, to).flatMap(({ body }, index) => (index > 0 ? [json.separator, body] : [body])),
};
const jsonParts = (entries: readonly CacheEntry[]): ListParts => ({
  head: Buffer.from('{"items":['),
  items: json,
  entries,
  tail: Buffer.from(']}\n'),
});
const messages = protobufItems(({ body }) => body);
const protobufParts = (entries: readonly CacheEntry[]): ListParts => ({
  ...protobufEnvelope('v1', 'ThingList', Buffer.from('metadata')),
  items: messages,
  entries,
});

let revision = 1;
function entryOf(bytes: number): CacheEntry {
  const body = Buffer.alloc(bytes, `"${randomBytes(8).toString('hex')}" and the like `);
  return { key: `k${revision}`, revision: revision++, body } as CacheEntry;
}

async function zipped(parts: ListParts, runs: DeflatedChunks): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of gzipListPieces(new GzipFile(), parts, never, runs)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe.each([
  ['JSON', jsonParts],
  ['Protobuf', protobufParts],
])('a list in %s as a gzip file', (_format, partsOf) => {
  it('is the plain list once it is decompressed, whatever was remembered and whatever has changed since', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 60 }),
        fc.array(fc.record({ at: fc.nat(60), what: fc.constantFrom('change', 'add', 'delete', 'skip', 'page') }), {
          maxLength: 8,
        }),
        fc.constantFrom(MIB, 4000),
        async (sizes, changes, memoBytes) => {
          const runs = new DeflatedChunks(memoBytes);
          let entries = sizes.map(entryOf);
          for (const { at, what } of [{ at: 0, what: 'none' }, ...changes]) {
            let listed = entries;
            if (what === 'change' && at < entries.length) listed = entries = entries.with(at, entryOf(500));
            if (what === 'add') listed = entries = entries.toSpliced(at, 0, entryOf(500));
            if (what === 'delete') listed = entries = entries.toSpliced(at, 1);
            if (what === 'skip') listed = entries.filter((_, index) => index % 2 === at % 2);
            if (what === 'page') listed = entries.slice(at / 2, at);
            const parts = partsOf(listed);
            const plain = Buffer.concat([...listPieces(parts)].flat());
            expect(gunzipSync(await zipped(parts, runs)).equals(plain)).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    ));

  it('is compressed anew only around an entry that has changed', async () => {
    const runs = new DeflatedChunks(MIB);
    const entries = Array.from({ length: 1000 }, () => entryOf(1500));
    const parts = partsOf(entries);
    await zipped(parts, runs);
    const pieces = jest.spyOn(parts.items, 'pieces');
    await zipped(parts, runs);
    expect(pieces).not.toHaveBeenCalled();
    await zipped({ ...parts, entries: entries.with(500, entryOf(1500)) }, runs);
    expect(pieces.mock.calls.length).toBeGreaterThan(0);
    expect(pieces.mock.calls.length).toBeLessThan(6);
    pieces.mockRestore();
  });
});

describe('a list of very large and very many entries', () => {
  it('has an entry that is larger than a block', async () => {
    const parts = jsonParts([entryOf(10), entryOf(1_500_000), entryOf(10)]);
    const plain = Buffer.concat([...listPieces(parts)].flat());
    expect(gunzipSync(await zipped(parts, new DeflatedChunks(MIB))).equals(plain)).toBe(true);
  });

  it('is compressed as it is asked for, and no further when nobody asks any more', async () => {
    const parts = jsonParts(Array.from({ length: 10_000 }, () => entryOf(1500)));
    const pieces = jest.spyOn(parts.items, 'pieces');
    let taken = 0;
    for await (const _piece of gzipListPieces(new GzipFile(), parts, never, new DeflatedChunks(MIB))) {
      if (++taken === 10) break;
    }
    expect(pieces.mock.calls.length).toBeLessThan(12);
    pieces.mockRestore();
  });

  it('is given up before it begins when the signal aborts, where its head has to wait for its items', async () => {
    const parts = protobufParts(Array.from({ length: 10_000 }, () => entryOf(1500)));
    const pieces = jest.spyOn(parts.items, 'pieces');
    const gone = new AbortController();
    const response = gzipListPieces(new GzipFile(), parts, gone.signal, new DeflatedChunks(MIB)).next();
    gone.abort(new Error('the client is gone'));
    await expect(response).rejects.toThrow('the client is gone');
    expect(pieces.mock.calls.length).toBeLessThan(12);
    pieces.mockRestore();
  });
});
