import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isScalar, parseDocument, visit, type Document } from 'yaml';

const TEMPLATES = join(__dirname, '../../helm/sternpost/templates');

/** What is left when control lines are dropped and every value is one word: Helm's own output has the same structure. */
function withoutActions(template: string): string {
  return template
    .split('\n')
    .filter((line) => !/^\s*(\{\{[^}]*\}\}\s*)+$/.test(line))
    .join('\n')
    .replaceAll(/"\{\{[^}]*\}\}"/g, '"value"')
    .replaceAll(/\{\{[^}]*\}\}/g, 'value');
}

/** Helm reads YAML 1.1, in which a plain text within braces has no question mark. */
function plainTextsForHelmToRefuse(document: Document): string[] {
  const found: string[] = [];
  visit(document, {
    Map: (_, { flow, items }) => {
      if (flow !== true) return;
      for (const { value } of items) {
        if (isScalar(value) && value.type === 'PLAIN' && String(value.value).includes('?')) found.push(String(value));
      }
    },
  });
  return found;
}

describe('the templates of the chart', () => {
  it.each(readdirSync(TEMPLATES))('%s is YAML', (name) => {
    const document = parseDocument(withoutActions(readFileSync(join(TEMPLATES, name), 'utf8')));
    expect(document.errors.map(({ message }) => message)).toEqual([]);
    expect(plainTextsForHelmToRefuse(document)).toEqual([]);
    expect(document.toJS()).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
  });
});
