import { keysOf } from '../parts';

/**
 * Characters of a value that a message shows, with what they are then quoted with. To print and quote megabytes takes a second, and
 * nobody reads them.
 */
export const MAX_SHOWN_LENGTH = 32 * 1024;

/** What is left of it; negative: something was left out. */
interface Room {
  left: number;
}

/** The value, or as much of it, from the beginning, as a message shows. Looks at no more than that. */
export function shownPart<Value>(value: Value): Value {
  const room = { left: MAX_SHOWN_LENGTH };
  const shown = beginningOf(value, room);
  return room.left < 0 ? (shown as Value) : value;
}

/** The text, which ends where messages end it. */
export function shownText(text: string, maxLength = MAX_SHOWN_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}...`;
}

/** The text in quotation marks. */
export function quoteShown(text: string): string {
  return JSON.stringify(shownText(text));
}

function beginningOf(value: unknown, room: Room): unknown {
  if (typeof value === 'string') return beginningOfText(value, room);
  room.left -= 1;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? beginningOfList(value, room) : beginningOfMap(value, room);
}

function beginningOfText(text: string, room: Room): string {
  const shown = text.length <= room.left ? text : `${text.slice(0, Math.max(room.left, 0))}...`;
  room.left -= text.length + 1;
  return shown;
}

function beginningOfList(list: readonly unknown[], room: Room): readonly unknown[] {
  const shown: unknown[] = [];
  for (const item of list) {
    if (room.left < 0) break;
    shown.push(beginningOf(item, room));
  }
  return shown;
}

function beginningOfMap(map: object, room: Room): object {
  const shown: [string, unknown][] = [];
  for (const key of keysOf(map)) {
    if (room.left < 0) break;
    const name = beginningOfText(key, room);
    shown.push([name, beginningOf((map as Readonly<Record<string, unknown>>)[key], room)]);
  }
  return Object.fromEntries(shown);
}
