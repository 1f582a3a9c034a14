// Makes the chart's README.md and values.schema.json of values.yaml, so that they cannot say different things. With --check it writes
// nothing and fails when one of them is out of date.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { load } = require('js-yaml');
const prettier = require('prettier');

const CHART = join(__dirname, '../helm/sternpost');

/** One value, with what its comments say of it. */
function parseValues(text) {
  const entries = [];
  const parents = [];
  let section = '';
  let description = [];
  let extra = {};
  for (const line of text.split('\n')) {
    const comment = /^\s*#(#?)\s?(.*)$/.exec(line);
    const key = /^(\s*)([A-Za-z][\w]*):(?: (.*))?$/.exec(line);
    if (comment !== null) {
      const [, second, words] = comment;
      if (second === '#') section = words;
      else if (words.startsWith('@schema ')) extra = JSON.parse(words.slice('@schema '.length));
      else if (words.startsWith('-- ')) description = [words.slice(3)];
      else if (description.length > 0) description.push(words);
    } else if (key !== null) {
      const [, indent, name, rest] = key;
      while (parents.length > 0 && parents.at(-1).indent >= indent.length) parents.pop();
      const path = [...parents.map((parent) => parent.name), name];
      entries.push({ path, section, description: description.join(' '), extra, hasChildren: rest === undefined });
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

function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const valueAt = (values, path) => path.reduce((value, name) => value?.[name], values);
const startsWith = (path, prefix) => prefix.every((name, index) => path[index] === name);

/** A map with annotations of its own, or an empty one, is a structure of Kubernetes: whatever it has there is allowed here. */
function isOpen(entry, value) {
  return (
    typeOf(value) !== 'object' || entry.extra.additionalProperties !== undefined || Object.keys(value).length === 0
  );
}

function schemaOf(entries, values, path) {
  const entry = entries.find((one) => one.path.join() === path.join()) ?? { extra: {}, description: '' };
  const value = valueAt(values, path);
  const about = entry.description === '' ? {} : { description: entry.description };
  if (path.length > 0 && isOpen(entry, value)) {
    const type = entry.extra.enum === undefined || entry.extra.type !== undefined ? { type: typeOf(value) } : {};
    return { ...about, ...type, ...entry.extra };
  }
  const properties = Object.keys(value).map((name) => [name, schemaOf(entries, values, [...path, name])]);
  return { ...about, type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Rows of leaves only: what a map's members are is told by their own rows. */
function rowsOf(entries, values) {
  const open = [];
  return entries.filter((entry) => {
    if (open.some((path) => entry.path.length > path.length && startsWith(entry.path, path))) return false;
    if (!isOpen(entry, valueAt(values, entry.path))) return false;
    open.push(entry.path);
    return true;
  });
}

function readmeOf(entries, values, introduction) {
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

async function main() {
  const text = readFileSync(join(CHART, 'values.yaml'), 'utf8');
  const values = load(text);
  const entries = parseValues(text);
  const introduction = readFileSync(join(CHART, 'README.head.md'), 'utf8');
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(entries, values, []) };
  const made = {
    'README.md': [readmeOf(entries, values, introduction), 'markdown'],
    'values.schema.json': [JSON.stringify(schema), 'json'],
  };
  for (const [name, [content, parser]] of Object.entries(made)) {
    const path = join(CHART, name);
    const options = (await prettier.resolveConfig(path)) ?? {};
    const formatted = await prettier.format(content, { ...options, parser });
    if (!process.argv.includes('--check')) writeFileSync(path, formatted);
    else if (readFileSync(path, 'utf8') !== formatted) {
      console.error(`${name} of the chart is out of date: node scripts/chart-docs.js`);
      process.exitCode = 1;
    }
  }
}

main();
