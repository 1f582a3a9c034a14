import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { check } from '../../src/api/cel/checker';
import { compileProgram, type Program } from '../../src/api/cel/evaluate';
import { kubernetesFunctions } from '../../src/api/cel/library';
import { equals } from '../../src/api/cel/equality';
import { parse } from '../../src/api/cel/parser';
import { DYN, formatType } from '../../src/api/cel/types';
import type { Value } from '../../src/api/cel/values';
import { UNSUPPORTED } from './unsupported';
import { typeOfSpec, valueOfSpec, type SpecType, type SpecValue } from './spec-values';

/** The specification's own tests (cel-spec), as far as they are about what expressions of the API may use. */

interface SpecTest {
  readonly original: {
    readonly name?: string;
    readonly expr: string;
    readonly container?: string;
    readonly disableCheck?: boolean;
    readonly checkOnly?: boolean;
    readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: SpecType } }[];
    readonly bindings?: Readonly<Record<string, { readonly value: SpecValue }>>;
    readonly value?: SpecValue;
    readonly evalError?: object;
    readonly anyEvalErrors?: object;
    readonly typedResult?: { readonly result?: SpecValue; readonly deducedType?: SpecType };
  };
}

interface SpecSuite {
  readonly name: string;
  readonly suites?: readonly SpecSuite[];
  readonly tests?: readonly SpecTest[];
}

function* all(suite: SpecSuite, path: string): Generator<readonly [string, SpecTest['original']]> {
  for (const inner of suite.suites ?? []) yield* all(inner, `${path}/${inner.name}`);
  for (const [index, { original }] of (suite.tests ?? []).entries()) {
    yield [`${path}/${original.name ?? index}`, original];
  }
}

function compile({ expr, typeEnv = [], bindings = {} }: SpecTest['original']): Program {
  const variables = new Map(
    typeEnv.map(({ name, ident }) => [name, ident === undefined ? DYN : typeOfSpec(ident.type)]),
  );
  for (const name of Object.keys(bindings)) if (!variables.has(name)) variables.set(name, DYN);
  return compileProgram(check(expr, parse(expr), { functions: kubernetesFunctions(), variables }));
}

function evaluate(original: SpecTest['original']): Value {
  const bindings = Object.entries(original.bindings ?? {});
  const values = Object.fromEntries(bindings.map(([name, { value }]) => [name, valueOfSpec(value)]));
  const outcome = compile(original).start(values, 1_000_000).proceed();
  if (outcome === undefined || 'error' in outcome) throw new Error(outcome?.error);
  return outcome.value;
}

/** Why a test is not run; undefined: it is. */
function reasonToSkip(path: string, original: SpecTest['original']): string | undefined {
  if (original.disableCheck === true) return 'expressions that are not checked before: the API checks all of them';
  if (/TestAllTypes|google\.protobuf\.(?!Timestamp|Duration)/.test(`${original.expr}${JSON.stringify(original)}`)) {
    return 'messages of Protobuf: objects of the API are JSON';
  }
  return UNSUPPORTED.find(([, pattern]) => pattern.test(path))?.[0];
}

const everything = [...all(tests, '')];
const cases = everything.filter(([path, original]) => reasonToSkip(path, original) === undefined);

it('most of the specification is tested, and what is not has a reason', () => {
  const skipped = new Map<string, number>();
  for (const [path, original] of everything) {
    const reason = reasonToSkip(path, original);
    if (reason !== undefined) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  expect(cases.length).toBeGreaterThan(1250);
  expect(Object.fromEntries(skipped)).toMatchInlineSnapshot(`
   {
     "a function that the test declares, and nobody defines": 6,
     "a library that kube-apiserver does not have": 228,
     "all names are those of the Kubernetes environment: there is no container of names": 2,
     "expressions that are not checked before: the API checks all of them": 141,
     "messages of Protobuf: objects of the API are JSON": 657,
   }
  `);
});

describe.each(cases)('%s', (_path, original) => {
  it(original.expr, () => {
    if (original.evalError !== undefined || original.anyEvalErrors !== undefined) {
      expect(() => evaluate(original)).toThrow();
      return;
    }
    const deduced = original.typedResult?.deducedType;
    if (deduced !== undefined) expect(formatType(compile(original).checked.type)).toBe(formatType(typeOfSpec(deduced)));
    if (original.checkOnly === true) return;
    const found = evaluate(original);
    const wanted = original.value ?? original.typedResult?.result;
    const expected = wanted === undefined ? true : valueOfSpec(wanted);
    const isNaNValue = (value: Value): boolean => typeof value === 'number' && Number.isNaN(value);
    const isSame = equals(found, expected) && typeof found === typeof expected;
    if (!isSame && !(isNaNValue(found) && isNaNValue(expected))) expect(found).toEqual(expected);
  });
});
