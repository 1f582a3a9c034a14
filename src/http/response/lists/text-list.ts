import { stringifyExact } from '../../../api/codec/exact-json';
import { printJson } from '../../../api/codec/json-print';
import type { Steps } from '../../../api/parts';
import { printYaml } from '../../../api/codec/yaml-print';
import type { CacheEntry } from '../../../storage/cache/cache';
import { eachItem, type ListParts } from './list-parts';

/** How JSON data is laid out as text. */
export interface TextLayout {
  print(value: unknown): string;
  /** What a member without items looks like in what `print` gives. */
  emptyMember(name: string): string;
  /** What is there instead, before the first item and after the last one. */
  opening(name: string): string;
  readonly closing: string;
  item(value: unknown): string;
  /** The same for a large object, a part at a time; absent: not in this thread. */
  readonly itemSteps?: (value: object) => Steps<Buffer>;
  readonly separator: string;
}

export const COMPACT_JSON: TextLayout = {
  print: (value) => `${stringifyExact(value)}\n`,
  emptyMember: (name) => `"${name}":[]`,
  opening: (name) => `"${name}":[`,
  closing: ']',
  item: (value) => stringifyExact(value),
  *itemSteps(value) {
    return (yield* printJson(value)).bytes;
  },
  separator: ',',
};

export const PRETTY_JSON: TextLayout = {
  print: (value) => stringifyExact(value, 2),
  emptyMember: (name) => `"${name}": []`,
  opening: (name) => `"${name}": [\n    `,
  closing: '\n  ]',
  // Within texts line breaks are escaped.
  item: (value) => stringifyExact(value, 2).replaceAll('\n', '\n    '),
  *itemSteps(value) {
    const { bytes } = yield* printJson(value, '', 2);
    yield;
    const text = bytes.toString().replaceAll('\n', '\n    ');
    yield;
    return Buffer.from(text);
  },
  separator: ',\n    ',
};

/** Keys are sorted, so that something comes before and perhaps after the items; a list stands as deep as its key. */
export const YAML: TextLayout = {
  print: printYaml,
  emptyMember: (name) => `\n${name}: []\n`,
  opening: (name) => `\n${name}:\n`,
  closing: '',
  item: (value) => printYaml([value]),
  separator: '',
};

/**
 * The parts of a list whose items are printed one by one: what `layout` would print of `list` if all items stood in `member`,
 * which is its last one and empty.
 */
export function textList(
  layout: TextLayout,
  list: Readonly<Record<string, unknown>>,
  member: string,
  entries: readonly CacheEntry[],
  item: (entry: CacheEntry) => unknown,
): ListParts {
  const text = layout.print(list);
  const items = eachItem(Buffer.from(layout.separator), false, (entry) => [Buffer.from(layout.item(item(entry)))]);
  if (entries.length === 0) return { head: Buffer.from(text), items, entries, tail: Buffer.alloc(0) };
  const empty = layout.emptyMember(member);
  const at = text.lastIndexOf(empty);
  return {
    head: Buffer.from(text.slice(0, at) + layout.opening(member)),
    items,
    entries,
    tail: Buffer.from(layout.closing + text.slice(at + empty.length)),
  };
}
