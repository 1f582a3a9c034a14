import { EVENT_ID, SCALAR_STYLE, getScalarValue, type Event, type ScalarEvent } from 'js-yaml';
import { MAX_JSON_DEPTH, duplicateFields, parseJson } from './json-syntax';
import { setOwn, type MutableObject } from './set-own';
import { lineAt, yamlEvents } from './yaml-events';
import { resolvePlain } from './yaml-scalar';
import { YamlSyntaxError } from './yaml-syntax-error';

/** YAML bodies, read as kube-apiserver does: the first document, turned into what JSON can say. */

export { YamlSyntaxError } from './yaml-syntax-error';

/** What aliases may add to a document in all, in nodes: a bomb of nested aliases stops here. */
const MAX_ALIASED_NODES = 100_000;
/** A text counts as a node for each of so many characters, so that a long one cannot be repeated for nothing either. */
const CHARACTERS_PER_NODE = 32;
/** Kubernetes reports no more problems than this of one document. */
const MAX_DUPLICATES = 100;

const BINARY_TAGS: ReadonlySet<string> = new Set(['!!binary', '!<tag:yaml.org,2002:binary>']);
const STRING_TAGS: ReadonlySet<string> = new Set(['!!str', '!', '!<tag:yaml.org,2002:str>']);

export interface YamlReading {
  /** Plain JSON data; null for an empty text. */
  readonly value: unknown;
  /** One sentence for each key that a map names again, as strict validation words it. */
  readonly duplicates: readonly string[];
}

/** Turns events into values by walking over them; where an alias stands it walks over what it names once more. */
class Converter {
  private readonly anchors = new Map<string, number>();
  private readonly open = new Set<number>();
  private readonly duplicateKeys: { readonly key: string; readonly position: number }[] = [];
  private next = 0;
  private aliasDepth = 0;
  private aliasedNodes = 0;

  constructor(
    private readonly text: string,
    private readonly events: readonly Event[],
  ) {}

  document(): unknown {
    if (this.events.length === 0) return null;
    // The first event says that a document begins.
    this.next = 1;
    return this.convert(0);
  }

  get duplicates(): readonly string[] {
    return this.duplicateKeys.map(({ key, position }) => {
      const line = lineAt(this.text, position);
      return `yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(key)} already set in map`;
    });
  }

  private convert(depth: number): unknown {
    if (depth > MAX_JSON_DEPTH) throw new YamlSyntaxError('exceeded max depth of 10000');
    const index = this.next;
    const event = this.take();
    this.countAliased(1);
    switch (event.type) {
      case EVENT_ID.ALIAS:
        return this.follow(this.text.slice(event.anchorStart, event.anchorEnd), depth + 1);
      case EVENT_ID.SCALAR:
        this.register(index, event);
        return this.scalar(event);
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        this.register(index, event);
        this.open.add(index);
        const value = event.type === EVENT_ID.SEQUENCE ? this.list(depth) : this.map(depth);
        this.open.delete(index);
        return value;
      }
      default:
        return null;
    }
  }

  private take(): Event {
    const event = this.events[this.next];
    if (event === undefined) throw new Error('the document has no end');
    this.next += 1;
    return event;
  }

  private countAliased(nodes: number): void {
    if (this.aliasDepth === 0) return;
    this.aliasedNodes += nodes;
    if (this.aliasedNodes > MAX_ALIASED_NODES) throw new YamlSyntaxError('document contains excessive aliasing');
  }

  private register(index: number, { anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): void {
    if (anchorStart >= 0 && this.aliasDepth === 0) this.anchors.set(this.text.slice(anchorStart, anchorEnd), index);
  }

  private follow(name: string, depth: number): unknown {
    const target = this.anchors.get(name);
    if (target === undefined) throw new YamlSyntaxError(`unknown anchor '${name}' referenced`);
    if (this.open.has(target)) throw new YamlSyntaxError(`anchor '${name}' value contains itself`);
    const { next } = this;
    this.next = target;
    this.aliasDepth += 1;
    const value = this.convert(depth);
    this.aliasDepth -= 1;
    this.next = next;
    return value;
  }

  private isAtEnd(): boolean {
    return this.events[this.next]?.type === EVENT_ID.POP;
  }

  private list(depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.isAtEnd()) items.push(this.convert(depth + 1));
    this.next += 1;
    return items;
  }

  private map(depth: number): MutableObject {
    const object: MutableObject = {};
    const merges: unknown[] = [];
    while (!this.isAtEnd()) {
      const keyEvent = this.events[this.next];
      if (this.isMerge(keyEvent)) {
        this.next += 1;
        merges.push(this.convert(depth + 1));
      } else {
        const key = this.key(depth + 1);
        if (Object.hasOwn(object, key)) this.addDuplicate(key, keyEvent);
        setOwn(object, key, this.convert(depth + 1));
      }
    }
    this.next += 1;
    for (const merged of merges) mergeInto(object, merged);
    return object;
  }

  private isMerge(event: Event | undefined): boolean {
    return event?.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && this.source(event) === '<<';
  }

  private key(depth: number): string {
    const key = this.convert(depth);
    if (typeof key === 'string') return key;
    if (typeof key === 'number' || typeof key === 'boolean') return String(key);
    throw new YamlSyntaxError('invalid map key');
  }

  private addDuplicate(key: string, event: Event | undefined): void {
    if (this.aliasDepth > 0 || this.duplicateKeys.length === MAX_DUPLICATES) return;
    this.duplicateKeys.push({ key, position: event?.type === EVENT_ID.SCALAR ? event.valueStart : 0 });
  }

  private source(event: ScalarEvent): string {
    return event.valueStart < 0 ? '' : getScalarValue(this.text, event);
  }

  private scalar(event: ScalarEvent): unknown {
    const source = this.source(event);
    this.countAliased(Math.floor(source.length / CHARACTERS_PER_NODE));
    const tag = event.tagStart < 0 ? undefined : this.text.slice(event.tagStart, event.tagEnd);
    if (tag === undefined && event.style !== SCALAR_STYLE.PLAIN) return source;
    if (tag !== undefined && BINARY_TAGS.has(tag)) return Buffer.from(source, 'base64').toString();
    if (tag !== undefined && STRING_TAGS.has(tag)) return source;
    const value = resolvePlain(source);
    if (typeof value === 'number' && !Number.isFinite(value)) throw new YamlSyntaxError(`unsupported value: ${source}`);
    return value;
  }
}

/** `<<: *base` or `<<: [*a, *b]`: fields that are not there yet. */
function mergeInto(object: MutableObject, merged: unknown): void {
  for (const base of Array.isArray(merged) ? (merged as readonly unknown[]) : [merged]) {
    if (typeof base !== 'object' || base === null || Array.isArray(base)) {
      throw new YamlSyntaxError('map merge requires map or sequence of maps as the value');
    }
    for (const [key, entry] of Object.entries(base)) {
      if (!Object.hasOwn(object, key)) setOwn(object, key, entry);
    }
  }
}

/**
 * Reads the first document of a YAML text. JSON is YAML too and takes the short way. Throws {@link YamlSyntaxError}.
 */
export function readYaml(text: string): YamlReading {
  return readJsonAsYaml(text) ?? readYamlOnly(text);
}

/** A text that begins like an object of JSON, and is one whose maps name no key twice. */
function readJsonAsYaml(text: string): YamlReading | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value = parseJson(text);
    return duplicateFields(text).length === 0 ? { value, duplicates: [] } : undefined;
  } catch {
    return undefined;
  }
}

export function readYamlOnly(text: string): YamlReading {
  const converter = new Converter(text, yamlEvents(text));
  const value = converter.document();
  return { value, duplicates: converter.duplicates };
}

/** {@link readYaml} for those who do not ask about duplicate keys. */
export function parseYaml(text: string): unknown {
  return readYaml(text).value;
}
