import { COLON, CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE } from '../../api/codec/json-bytes';
import type { KubeObject } from '../../api/object';
import { endOfString, endOfValue } from './json-scan';

/** A member of so many bytes is parsed whatever it is called. */
const SMALL_BYTES = 1024;

/**
 * What the value of a selectable field may be read from, of a large body that is not parsed for it: the members that are small, and of
 * the others the maps and texts that the field's label names (`spec.nodeName`: what is in the spec). Fields are never read from
 * lists. Undefined when the text has to be left to the parser: it has white space, or begins otherwise.
 */
export function skimmedObject(body: Buffer, label: string): KubeObject | undefined {
  const named = new Set(label.split('.'));
  const skimmed = skim(body, 0, named);
  return skimmed === undefined ? undefined : (JSON.parse(skimmed.text) as KubeObject);
}

interface Skimmed {
  readonly text: string;
  /** The position after the closing brace. */
  readonly end: number;
}

/** `start`: after the opening brace. */
function skim(body: Buffer, start: number, named: ReadonlySet<string>): Skimmed | undefined {
  const members: string[] = [];
  let at = start;
  if (body[at] === CLOSE_BRACE) return { text: '{}', end: at + 1 };
  for (;;) {
    if (body[at] !== QUOTE) return undefined;
    const keyEnd = endOfString(body, at);
    if (body[keyEnd] !== COLON) return undefined;
    const first = body[keyEnd + 1];
    const isNamed = named.has(body.toString('utf8', at + 1, keyEnd - 1));
    let end: number;
    if (isNamed && first === OPEN_BRACE) {
      const inner = skim(body, keyEnd + 2, named);
      if (inner === undefined) return undefined;
      members.push(body.toString('utf8', at, keyEnd + 1) + inner.text);
      ({ end } = inner);
    } else {
      end = endOfValue(body, keyEnd + 1);
      if (end < 0) return undefined;
      if (end - at <= SMALL_BYTES || (isNamed && first === QUOTE)) members.push(body.toString('utf8', at, end));
    }
    if (body[end] === CLOSE_BRACE) return { text: `{${members.join()}}`, end: end + 1 };
    if (body[end] !== COMMA) return undefined;
    at = end + 1;
  }
}
