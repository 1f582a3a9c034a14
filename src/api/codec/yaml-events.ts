import { EVENT_ID, YAMLException, parseEvents, type Event } from 'js-yaml';
import { MAX_JSON_DEPTH } from './json-syntax';
import { YamlSyntaxError } from './yaml-syntax-error';

/** The first document of a YAML text as the library's events, and the library's complaints in kube-apiserver's words. */

/**
 * What begins or parts values (`[`, `{`, `,`, `: `, `- `, `? `) that a text may have: the library makes two events of a
 * hundred bytes for each. An object of 1.5 MiB would need one every third byte.
 */
export const MAX_YAML_SEPARATORS = 400_000;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const SEPARATORS: ReadonlySet<number> = new Set([...'[{,'].map((character) => character.charCodeAt(0)));
const SEPARATORS_BEFORE_SPACE: ReadonlySet<number> = new Set([...':-?'].map((character) => character.charCodeAt(0)));

function isSpace(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === RETURN || code === TAB || Number.isNaN(code);
}

/** At least as many as the values of the text: what stands within texts is counted as well. */
function hasTooManySeparators(text: string): boolean {
  if (text.length <= MAX_YAML_SEPARATORS) return false;
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === SPACE || (code >= 0x61 && code <= 0x7a)) continue;
    // In a flow collection a colon may part key and value without a space.
    if (SEPARATORS.has(code) || (SEPARATORS_BEFORE_SPACE.has(code) && isSpace(text.charCodeAt(index + 1)))) count += 1;
    if (count > MAX_YAML_SEPARATORS) return true;
  }
  return false;
}

/** The text up to the marker that ends its first document. */
function firstDocument(text: string): string {
  const content = endOfPreamble(text);
  const marker = /(?:^|[\r\n])(?:---|\.\.\.)(?=\s|$)/g;
  marker.lastIndex = text.startsWith('---', content) ? content + 3 : Math.max(0, content - 1);
  const end = marker.exec(text)?.index;
  return end === undefined ? text : text.slice(0, end + 1);
}

/** Where the first line begins that is not empty, no comment and no directive. */
function endOfPreamble(text: string): number {
  const line = /[ \t]*(?:[#%].*)?(?:\r\n|\r|\n)/y;
  let end = text.startsWith('\ufeff') ? 1 : 0;
  for (line.lastIndex = end; line.test(text);) end = line.lastIndex;
  return end;
}

/**
 * What the library reads in the first document, its first event being the document's own; none for an empty text. Throws
 * {@link YamlSyntaxError}.
 */
export function yamlEvents(text: string): readonly Event[] {
  const source = firstDocument(text);
  if (hasTooManySeparators(source)) throw new YamlSyntaxError('document contains too many values');
  try {
    return parseEvents(source, { maxDepth: MAX_JSON_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new YamlSyntaxError(explain(source, error.reason, error.mark?.position ?? source.length));
  }
}

export function isDocument(event: Event | undefined): boolean {
  return event?.type === EVENT_ID.DOCUMENT;
}

/** The number of the line in which a position is, the first being 1. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** kube-apiserver's parser counts from 0 in some of its messages, and leaves 0 out. */
function at(line: number): string {
  return line === 0 ? '' : `line ${line}: `;
}

/** A complaint of the library in the words, and with the line numbers, of kube-apiserver's. */
function explain(text: string, reason: string, position: number): string {
  const line = lineAt(text, position);
  const last = lineAt(text, text.length - 1);
  if (reason.startsWith('nesting exceeded')) return 'exceeded max depth of 10000';
  if (reason.startsWith('tab characters')) return `${at(line)}found character that cannot start any token`;
  if (reason.startsWith('unknown escape')) return `${at(line)}found unknown escape character`;
  if (reason.startsWith('expected hexadecimal')) return `${at(line)}did not find expected hexdecimal number`;
  if (reason.includes('non-printable') || reason.startsWith('null byte')) return 'control characters are not allowed';
  if (reason.startsWith('unexpected end of the stream within a flow')) return `${at(last)}${unfinishedFlow(text)}`;
  if (reason.startsWith('unexpected end of the stream')) return `${at(last)}found unexpected end of stream`;
  if (reason.startsWith('unexpected end of the document')) return `${at(line)}found unexpected document indicator`;
  const found = text.charAt(position);
  const isMultilineKey = reason.startsWith('end of the stream or') && found === ':';
  if (isMultilineKey || reason.startsWith('can not read a block mapping') || reason.startsWith("expected ':'")) {
    return `${at(line)}could not find expected ':'`;
  }
  if ('@`%\t'.includes(found) && found !== '') return `${at(line)}found character that cannot start any token`;
  if (found === ':') return `${at(line)}mapping values are not allowed in this context`;
  if (reason.startsWith('expected the node content')) return `${at(line)}did not find expected node content`;
  if (reason.startsWith('missed comma')) return `${at(line)}did not find expected ',' or '${closing(text, position)}'`;
  return `${at(line - 1)}did not find expected key`;
}

function unfinishedFlow(text: string): string {
  const end = text.trimEnd().at(-1) ?? '';
  if ('[{,:'.includes(end)) return 'did not find expected node content';
  return `did not find expected ',' or '${closing(text, text.length)}'`;
}

/** What ends the flow collection in which a position is, as far as that is seen without reading texts. */
function closing(text: string, position: number): string {
  let open = 0;
  for (let index = position - 1; index >= 0; index -= 1) {
    const character = text.charAt(index);
    if (character === ']' || character === '}') open += 1;
    else if (character === '[' || character === '{') {
      if (open === 0) return character === '[' ? ']' : '}';
      open -= 1;
    }
  }
  return '}';
}
