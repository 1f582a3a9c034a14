import type { Labels } from '../../api/selectors/label-selector';
import { endOfString, endOfValue } from './json-scan';
import { LabelIndex } from './label-index';

/**
 * Finds `metadata.labels` in an entry's body without parsing the rest: a label selector over 100,000 objects would
 * otherwise pay for 100,000 whole parses.
 */

/** Shared by all entries without labels. */
export const NO_LABELS: Labels = Object.freeze({});

/** From here on labels are found where they stand: thousands, which take milliseconds to parse. */
export const MANY_LABELS_BYTES = 64 * 1024;

const NEEDLE = Buffer.from('"labels"');
const METADATA = Buffer.from('"metadata":{');

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;

/** `body` is the text of an object without its opening brace; it begins with `"metadata":{`, as a rule. */
export function labelsOf(body: Buffer): Labels | LabelIndex {
  if (!body.includes(NEEDLE)) return NO_LABELS;
  const found = findLabels(body);
  // White space, escaped keys, and fields named by integers, which JavaScript puts first, are left to the parser.
  const labels = found === 'unusual' ? parsedLabels(body) : found;
  return labels ?? NO_LABELS;
}

function parsedLabels(body: Buffer): Labels | null | undefined {
  const { labels } = (JSON.parse(`{${body.toString('utf8')}`) as { metadata: { labels?: Labels | null } }).metadata;
  return Object.keys(labels ?? {}).length === 0 ? undefined : labels;
}

function findLabels(body: Buffer): Labels | LabelIndex | null | undefined | 'unusual' {
  let at = METADATA.length;
  if (body.compare(METADATA, 0, at, 0, at) !== 0) return 'unusual';
  if (body[at] === CLOSE_BRACE) return undefined;
  for (;;) {
    if (body[at] !== QUOTE) return 'unusual';
    const keyEnd = endOfString(body, at);
    if (body[keyEnd] !== COLON) return 'unusual';
    const valueEnd = endOfValue(body, keyEnd + 1);
    if (valueEnd < 0) return 'unusual';
    if (keyEnd - at === NEEDLE.length && body.compare(NEEDLE, 0, NEEDLE.length, at, keyEnd) === 0) {
      const isLong = valueEnd - keyEnd > MANY_LABELS_BYTES;
      const index = isLong ? LabelIndex.of(body, keyEnd + 1, valueEnd) : undefined;
      if (index !== undefined) return index;
      const text = body.toString('utf8', keyEnd + 1, valueEnd);
      return text === '{}' ? undefined : (JSON.parse(text) as Labels | null);
    }
    if (body[valueEnd] === CLOSE_BRACE) return undefined;
    if (body[valueEnd] !== COMMA) return 'unusual';
    at = valueEnd + 1;
  }
}
