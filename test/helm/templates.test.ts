import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

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
function linesForHelmToRefuse(yaml: string): readonly string[] {
  return yaml.split('\n').filter((line) => /\{[^}]*\?/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, '')));
}

describe('the templates of the chart', () => {
  it.each(readdirSync(TEMPLATES))('%s is YAML', (name) => {
    const yaml = withoutActions(readFileSync(join(TEMPLATES, name), 'utf8'));
    expect(linesForHelmToRefuse(yaml)).toEqual([]);
    expect(load(yaml)).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
  });
});
