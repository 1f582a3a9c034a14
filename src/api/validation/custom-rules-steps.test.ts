import { atOnce, type Steps } from '../parts';
import type { KubeObject } from '../object';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkDefinitionRules } from './custom-rules';

const RULE = { 'x-kubernetes-validations': [{ rule: 'has(self.a)' }] };

/** A rule on each level, and many fields below all of them. */
function definition(depth: number, width: number): KubeObject {
  const fields = Object.fromEntries(Array.from({ length: width }, (_, index) => [`f${index}`, { type: 'string' }]));
  let schema: object = { type: 'object', properties: { a: { type: 'object', properties: fields } }, ...RULE };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { a: schema }, ...RULE };
  const versions = [{ name: 'v1', schema: { openAPIV3Schema: schema } }];
  return counted({ apiVersion: 'v1', kind: 'Definition', metadata: { name: 'a' }, spec: { versions } });
}

// eslint-disable-next-line require-yield
function* together(steps: Steps<unknown>): Steps<unknown> {
  return atOnce(steps);
}

const reads = (depth: number, width: number): number =>
  mostReads(together(checkDefinitionRules(definition(depth, width), undefined)));

it('rules on many levels of a schema look at what is below them once, and not once for each', () => {
  const [small, deeper, wider] = [reads(40, 400), reads(80, 400), reads(40, 800)];
  expect(small).toBeGreaterThan(400);
  expect(deeper + wider).toBeLessThan(3.5 * small);
});

it('many versions with rules are compared with those before a version at a time', () => {
  const withVersions = (count: number): KubeObject => {
    const versions = Array.from({ length: count }, (_, index) => {
      const [fields] = [Array.from({ length: 100 }, (_one, field) => [`f${field}`, { type: 'string' }] as const)];
      const properties = {
        a: { type: 'object' },
        ...Object.fromEntries(fields),
        last: { type: 'string', title: `${index}` },
      };
      return { name: `v${index}`, schema: { openAPIV3Schema: { type: 'object', properties, ...RULE } } };
    });
    return counted({ apiVersion: 'v1', kind: 'Definition', metadata: { name: 'a' }, spec: { versions } });
  };
  const most = mostReads(checkDefinitionRules(withVersions(30), withVersions(31)));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(10_000);
});
