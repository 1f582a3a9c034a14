// Makes the chart's README.md and values.schema.json of values.yaml, so that they cannot say different things. With --check it writes
// nothing and fails when one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import prettier from 'prettier';

const CHART = join(__dirname, '../helm/sternpost');

/** One value, with what its comments say of it. */
interface Entry {
  readonly path: readonly string[];
  readonly section: string;
  readonly description: string;
  /** What its schema says beyond its type. */
  readonly extra: Readonly<Record<string, unknown>>;
}

type Value = null | boolean | number | string | readonly Value[] | Values;
type Values = { readonly [name: string]: Value };

function parseValues(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  const parents: { readonly indent: number; readonly name: string }[] = [];
  let section = '';
  let description: string[] = [];
  let extra: Entry['extra'] = {};
  for (const line of text.split('\n')) {
    const comment = /^\s*#(#?)\s?(.*)$/.exec(line);
    const key = /^(\s*)([A-Za-z][\w]*):(?: (.*))?$/.exec(line);
    if (comment !== null) {
      const [, second = '', words = ''] = comment;
      if (second === '#') section = words;
      else if (words.startsWith('@schema ')) extra = JSON.parse(words.slice('@schema '.length)) as Entry['extra'];
      else if (words.startsWith('-- ')) description = [words.slice(3)];
      else if (description.length > 0) description.push(words);
    } else if (key !== null) {
      const [, indent = '', name = ''] = key;
      while ((parents.at(-1)?.indent ?? -1) >= indent.length) parents.pop();
      const path = [...parents.map((parent) => parent.name), name];
      entries.push({ path, section, description: description.join(' '), extra });
      parents.push({ indent: indent.length, name });
      description = [];
      extra = {};
    } else {
      description = [];
      extra = {};
    }
  }
  return entries;
}

function typeOf(value: Value | undefined): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function valueAt(values: Values, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((value, name) => (value as Values | undefined)?.[name], values);
}

function startsWith(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((name, index) => path[index] === name);
}

/** A map with annotations of its own, or an empty one, is a structure of Kubernetes: whatever it has there is allowed here. */
function isOpen(entry: Entry, value: Value | undefined): boolean {
  return (
    typeOf(value) !== 'object' ||
    entry.extra.additionalProperties !== undefined ||
    Object.keys(value as Values).length === 0
  );
}

function schemaOf(entries: readonly Entry[], values: Values, path: readonly string[]): object {
  const entry = entries.find((one) => one.path.join() === path.join()) ?? {
    path,
    section: '',
    extra: {},
    description: '',
  };
  const value = valueAt(values, path);
  const about = entry.description === '' ? {} : { description: entry.description };
  if (path.length > 0 && isOpen(entry, value)) {
    const type = entry.extra.enum === undefined || entry.extra.type !== undefined ? { type: typeOf(value) } : {};
    return { ...about, ...type, ...entry.extra };
  }
  const properties = Object.keys(value as Values).map(
    (name) => [name, schemaOf(entries, values, [...path, name])] as const,
  );
  return { ...about, type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Rows of leaves only: what a map's members are is told by their own rows. */
function rowsOf(entries: readonly Entry[], values: Values): readonly Entry[] {
  const open: (readonly string[])[] = [];
  return entries.filter((entry) => {
    if (open.some((path) => entry.path.length > path.length && startsWith(entry.path, path))) return false;
    if (!isOpen(entry, valueAt(values, entry.path))) return false;
    open.push(entry.path);
    return true;
  });
}

function readmeOf(entries: readonly Entry[], values: Values, introduction: string): string {
  const rows = rowsOf(entries, values);
  const lines = [introduction.trimEnd(), ''];
  for (const section of new Set(rows.map((row) => row.section))) {
    lines.push(`### ${section}`, '', '| value | default | what it is |', '| --- | --- | --- |');
    for (const { path, description } of rows.filter((row) => row.section === section)) {
      const shown = JSON.stringify(valueAt(values, path)).replaceAll('|', '\\|');
      lines.push(`| \`${path.join('.')}\` | \`${shown}\` | ${description.replaceAll('|', '\\|')} |`);
    }
    lines.push('');
  }
  return lines.join('\n');
}

async function main(): Promise<void> {
  const text = readFileSync(join(CHART, 'values.yaml'), 'utf8');
  const values = load(text) as Values;
  const entries = parseValues(text);
  const introduction = readFileSync(join(CHART, 'README.head.md'), 'utf8');
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(entries, values, []) };
  const made: Readonly<Record<string, readonly [content: string, parser: string]>> = {
    'README.md': [readmeOf(entries, values, introduction), 'markdown'],
    'values.schema.json': [JSON.stringify(schema), 'json'],
  };
  for (const [name, [content, parser]] of Object.entries(made)) {
    const path = join(CHART, name);
    const options = (await prettier.resolveConfig(path)) ?? {};
    const formatted = await prettier.format(content, { ...options, parser });
    if (!process.argv.includes('--check')) writeFileSync(path, formatted);
    else if (readFileSync(path, 'utf8') !== formatted) {
      console.error(`${name} of the chart is out of date: npm run chart-docs`);
      process.exitCode = 1;
    }
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
