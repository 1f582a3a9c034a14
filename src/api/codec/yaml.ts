import {
  Composer,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { MAX_JSON_DEPTH, parseJson } from './json-syntax';
import { setOwn, type MutableObject } from './struct-plan';
import { resolvePlain } from './yaml-scalar';

/** YAML bodies, read as kube-apiserver does: the first document, turned into what JSON can say. */

/** Thrown for a text that is no YAML, or says what JSON cannot; the message begins with `yaml: `. */
export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError';

  constructor(problem: string) {
    super(`yaml: ${problem}`);
  }
}

/** Nodes that aliases may add to a document in all: a bomb of nested aliases stops here. */
const MAX_ALIASED_NODES = 100_000;

type Composed = Document.Parsed;

/** Only the first document is composed; what follows it is not looked at. */
function firstDocument(text: string, uniqueKeys: boolean): { readonly document?: Composed; readonly problem?: string } {
  try {
    const composer = new Composer({ version: '1.1', schema: 'failsafe', uniqueKeys, merge: false, logLevel: 'silent' });
    for (const document of composer.compose(new Parser().parse(text))) return { document };
    return {};
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'exceeded max depth of 10000' };
    throw error;
  }
}

/** Where a message says the problem is: the number of lines before it, or none for the first line. */
function at(line: number): string {
  return line === 0 ? '' : `line ${line}: `;
}

/** The complaint of the library in the words, and with the line numbers, of kube-apiserver's. */
function explain(text: string, code: string, message: string, line: number): string {
  const lines = text.split('\n');
  const lineCount = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  switch (code) {
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return `${at(line)}found character that cannot start any token`;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return `${at(line)}mapping values are not allowed in this context`;
    case 'BAD_DQ_ESCAPE':
      return `${at(line)}found unknown escape character`;
    case 'MULTILINE_IMPLICIT_KEY':
      return `${at(line + 1)}could not find expected ':'`;
    case 'BAD_INDENT':
    case 'MISSING_CHAR': {
      if (!message.startsWith('Flow')) return `${at(lineCount)}found unexpected end of stream`;
      const end = text.trimEnd().at(-1) ?? '';
      if ('[{,:'.includes(end)) return `${at(lineCount)}did not find expected node content`;
      return `${at(lineCount)}did not find expected ',' or '${message.startsWith('Flow map') ? '}' : ']'}'`;
    }
    default:
      return `${at(line - 1)}did not find expected key`;
  }
}

class Converter {
  private readonly anchors = new Map<string, Node>();
  private readonly open = new Set<Node>();
  private aliasDepth = 0;
  private aliasedNodes = 0;

  convert(node: Node | null | undefined, depth: number): unknown {
    if (depth > MAX_JSON_DEPTH) throw new YamlSyntaxError('exceeded max depth of 10000');
    if (node === null || node === undefined) return null;
    if (this.aliasDepth > 0) {
      this.aliasedNodes += 1;
      if (this.aliasedNodes > MAX_ALIASED_NODES) throw new YamlSyntaxError('document contains excessive aliasing');
    }
    if (isAlias(node)) return this.follow(node.source, (target) => this.convert(target, depth + 1));
    if (this.aliasDepth === 0 && 'anchor' in node && node.anchor !== undefined) this.anchors.set(node.anchor, node);
    this.open.add(node);
    const value = this.convertContent(node, depth);
    this.open.delete(node);
    return value;
  }

  private follow<T>(name: string, use: (target: Node) => T): T {
    const target = this.anchors.get(name);
    if (target === undefined) throw new YamlSyntaxError(`unknown anchor '${name}' referenced`);
    if (this.open.has(target)) throw new YamlSyntaxError(`anchor '${name}' value contains itself`);
    this.aliasDepth += 1;
    const result = use(target);
    this.aliasDepth -= 1;
    return result;
  }

  private convertContent(node: Node, depth: number): unknown {
    if (isScalar(node)) return this.scalar(node.source ?? '', node.type, node.tag);
    if (isSeq<Node>(node)) return node.items.map((item) => this.convert(item, depth + 1));
    return isMap<Node, Node | null>(node) ? this.map(node, depth) : null;
  }

  private scalar(source: string, style: string | null | undefined, tag: string | undefined): unknown {
    if (tag === 'tag:yaml.org,2002:binary') return Buffer.from(source, 'base64').toString();
    if (tag === 'tag:yaml.org,2002:str' || tag === '!') return source;
    if (style !== 'PLAIN' && tag === undefined) return source;
    const value = resolvePlain(source);
    if (typeof value === 'number' && !Number.isFinite(value)) throw new YamlSyntaxError(`unsupported value: ${source}`);
    return value;
  }

  private map(node: YAMLMap<Node, Node | null>, depth: number): MutableObject {
    const object: MutableObject = {};
    const merges: Pair<Node, Node | null>[] = [];
    for (const pair of node.items) {
      if (isMerge(pair.key)) merges.push(pair);
      else setOwn(object, this.key(pair.key), this.convert(pair.value, depth + 1));
    }
    for (const { value } of merges) this.merge(object, value, depth + 1);
    return object;
  }

  private key(node: Node | null): string {
    const key = this.convert(node, 0);
    if (typeof key === 'string') return key;
    if (typeof key === 'number' || typeof key === 'boolean') return String(key);
    throw new YamlSyntaxError('invalid map key');
  }

  /** `<<: *base` or `<<: [*a, *b]`: fields that are not there yet. */
  private merge(object: MutableObject, value: Node | null, depth: number): void {
    const merged = this.convert(value, depth);
    for (const base of Array.isArray(merged) ? (merged as readonly unknown[]) : [merged]) {
      if (typeof base !== 'object' || base === null || Array.isArray(base)) {
        throw new YamlSyntaxError('map merge requires map or sequence of maps as the value');
      }
      for (const [key, entry] of Object.entries(base)) {
        if (!Object.hasOwn(object, key)) setOwn(object, key, entry);
      }
    }
  }
}

function isMerge(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
}

/**
 * Parses the first document of a YAML text into plain JSON data; an empty text gives null. JSON is YAML too and takes
 * the short way. Throws {@link YamlSyntaxError}.
 */
export function parseYaml(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    const value = tryJson(text);
    if (value !== undefined) return value;
  }
  const { document, problem } = firstDocument(text, false);
  if (problem !== undefined) throw new YamlSyntaxError(problem);
  if (document === undefined) return null;
  const error = document.errors[0];
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new YamlSyntaxError(explain(text, error.code, error.message, line));
  }
  return new Converter().convert(document.contents, 0);
}

function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** One sentence for each key that a map of the first document names again, as strict validation words it. */
export function duplicateYamlKeys(text: string): readonly string[] {
  const { document } = firstDocument(text, true);
  return (document?.errors ?? [])
    .filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ pos }) => {
      const line = text.slice(0, pos[0]).split('\n').length;
      const key = /^[^:\s]*/.exec(text.slice(pos[0]))?.[0] ?? '';
      return `yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(key)} already set in map`;
    });
}
