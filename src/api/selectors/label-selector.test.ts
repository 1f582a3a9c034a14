import fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import {
  matchesLabels,
  parseLabelSelector,
  printLabelSelector,
  selectorRequirements,
  selectsLabels,
  type LabelRequirement,
  type Labels,
} from './label-selector';

const objects: Readonly<Record<string, Labels | undefined>> = {
  o1: { env: 'prod', tier: 'web', num: '10' },
  o2: { env: 'dev', num: '5' },
  o3: undefined,
  o4: { tier: 'db', 'example.com/a': 'b', in: 'in' },
  o5: { env: '', notin: 'x' },
};

function selected(text: string): readonly string[] {
  const requirements = parseLabelSelector(text);
  return Object.keys(objects).filter((name) => matchesLabels(requirements, objects[name]));
}

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message;
  }
  return 'not refused';
}

describe('the text of a selector', () => {
  test.each([
    ['', ['o1', 'o2', 'o3', 'o4', 'o5']],
    ['env=prod', ['o1']],
    ['env==prod', ['o1']],
    ['env!=prod', ['o2', 'o3', 'o4', 'o5']],
    ['env in (prod,dev)', ['o1', 'o2']],
    ['env notin (prod)', ['o2', 'o3', 'o4', 'o5']],
    ['env', ['o1', 'o2', 'o5']],
    ['!env', ['o3', 'o4']],
    ['env=prod,tier=web', ['o1']],
    ['env,!tier', ['o2', 'o5']],
    ['env=', ['o5']],
    ['env in ()', ['o5']],
    ['env in (prod,)', ['o1', 'o5']],
    ['env in (,prod)', ['o1', 'o5']],
    [' env = prod ', ['o1']],
    ['env=prod\n', ['o1']],
    ['num>5', ['o1']],
    ['num>9,num<11', ['o1']],
    ['env=prod,env=dev', []],
    ['example.com/a=b', ['o4']],
    ['ENV=prod', []],
    ['in=in', ['o4']],
    ['in in (in)', ['o4']],
    ['!example.com/a,env=prod', ['o1']],
    ['constructor', []],
  ])('%j selects %j', (text, names) => {
    expect(selected(text)).toEqual(names);
  });

  const valueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  test.each([
    ['env=prod,', "found '', expected: identifier after ','"],
    ['==', "found '==', expected: !, identifier, or 'end of string'"],
    ['(env)', "found '(', expected: !, identifier, or 'end of string'"],
    ['env===prod', "unable to parse requirement: found '=', expected: identifier"],
    ['env in prod', "unable to parse requirement: found 'prod' expected: '('"],
    ['!!env', "unable to parse requirement: found '!', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['env>=1', "unable to parse requirement: found '=', expected: identifier"],
    ['num>5.5', "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"],
    ['env=a b', "found 'b', expected: ',' or 'end of string'"],
    ['env!prod', "unable to parse requirement: found '!', expected: '=', '!=', '==', 'in', notin'"],
    ['a b', "unable to parse requirement: found 'b', expected: '=', '!=', '==', 'in', notin'"],
    ['n=(a', "unable to parse requirement: found '(', expected: identifier"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ["env='prod'", `unable to parse requirement: invalid label value: "'prod'": at key: "env": ${valueRule}`],
    ['env in (prod,-x)', `unable to parse requirement: invalid label value: "-x": at key: "env": ${valueRule}`],
    // Go ends a selector at a NUL and ignores what follows: here nothing of a selector is ignored.
    ['env=\0', `unable to parse requirement: invalid label value: "\\x00": at key: "env": ${valueRule}`],
    ['env\0=prod', expect.stringMatching(/^unable to parse requirement: invalid label key "env\\x00": name part /)],
    [
      'env\u00a0=prod',
      expect.stringMatching(/^unable to parse requirement: invalid label key "env\\u00a0": name part /),
    ],
    ['a>9223372036854775808', "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer"],
    ['env=\u200b', `unable to parse requirement: invalid label value: "\\u200b": at key: "env": ${valueRule}`],
    ['/x=1', 'unable to parse requirement: invalid label key "/x": prefix part must be non-empty'],
    [
      `a=${'v'.repeat(64)}`,
      `unable to parse requirement: invalid label value: "${'v'.repeat(64)}": at key: "a": must be no more than 63 characters`,
    ],
    [
      'x/y/z=1',
      `unable to parse requirement: invalid label key "x/y/z": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    [
      'a..b/x=1',
      `unable to parse requirement: invalid label key "a..b/x": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
  ])('%j is refused', (text, message) => {
    expect(messageOf(() => parseLabelSelector(text))).toEqual(message);
  });

  test('any text is either read or refused with a 400', () => {
    const characters = fc.constantFrom(...'ab=!<>(), \t/.-_\u00a0i n'.split(''), 'in', 'notin');
    fc.assert(
      fc.property(fc.array(characters), (parts) => {
        try {
          parseLabelSelector(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});

describe('the object of a selector', () => {
  test('an absent one selects nothing, an empty one everything', () => {
    expect(selectsLabels(undefined, {})).toBe(false);
    expect(selectsLabels(null, {})).toBe(false);
    expect(selectsLabels({}, undefined)).toBe(true);
  });

  test('prints as a scale shows it', () => {
    const requirements = selectorRequirements({
      matchLabels: { tier: 'web', app: 'a' },
      matchExpressions: [
        { key: 'x', operator: 'In', values: ['b', 'a'] },
        { key: 'y', operator: 'Exists' },
        { key: 'z', operator: 'DoesNotExist', values: [] },
        { key: 'n', operator: 'NotIn', values: ['q'] },
      ],
    });
    expect(printLabelSelector(requirements ?? [])).toBe('app=a,n notin (q),tier=web,x in (a,b),y,!z');
  });

  test.each([
    [{ matchExpressions: [{ key: 'x', operator: 'Like' }] }, '"Like" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'x', operator: 'In', values: [] }] },
      "for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { matchExpressions: [{ key: 'x', operator: 'Exists', values: ['a'] }] },
      'values set must be empty for exists and does not exist',
    ],
  ])('%j is refused', (selector, message) => {
    expect(messageOf(() => selectorRequirements(selector))).toBe(message);
  });
});

describe('laws', () => {
  const word = fc.stringMatching(/^[a-z]([-a-z0-9]{0,5}[a-z0-9])?$/);
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    fc.record({ key: word, operator: fc.constantFrom('=', '==', '!='), values: fc.tuple(word) }),
    fc.record({ key: word, operator: fc.constantFrom('exists', '!'), values: fc.constant([]) }),
    fc.record({ key: word, operator: fc.constantFrom('>', '<'), values: fc.tuple(fc.integer().map(String)) }),
    fc.record({
      key: word,
      operator: fc.constantFrom('in', 'notin'),
      values: fc.uniqueArray(word, { minLength: 1 }).map((values) => values.sort()),
    }),
  );

  test('printing and parsing again gives the same requirements', () => {
    fc.assert(
      fc.property(fc.uniqueArray(requirement, { selector: ({ key }) => key }), (requirements) => {
        fc.pre(
          requirements.every(({ operator, values }) =>
            operator !== '>' && operator !== '<' ? true : !String(values[0]).startsWith('-'),
          ),
        );
        const inOrder = [...requirements].sort((a, b) => (a.key < b.key ? -1 : 1));
        expect(parseLabelSelector(printLabelSelector(inOrder))).toEqual(inOrder);
      }),
    );
  });

  test('`in` and `notin` are opposites', () => {
    fc.assert(
      fc.property(word, fc.uniqueArray(word, { minLength: 1 }), fc.dictionary(word, word), (key, values, labels) => {
        const one: LabelRequirement = { key, operator: 'in', values };
        expect(matchesLabels([one], labels)).toBe(!matchesLabels([{ ...one, operator: 'notin' }], labels));
      }),
    );
  });

  test('a selector that is asked once says what its requirements would', () => {
    const key = fc.constantFrom('a', 'b', 'constructor');
    const value = fc.constantFrom('', 'x', 'y');
    const expression = fc.oneof(
      fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1 }) }),
      fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    );
    const selector = fc.record(
      { matchLabels: fc.dictionary(key, value), matchExpressions: fc.array(expression, { maxLength: 3 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(selector, fc.dictionary(key, value), (one, labels) => {
        expect(selectsLabels(one, labels)).toBe(matchesLabels(selectorRequirements(one) ?? [], labels));
      }),
    );
    expect(() => selectsLabels({ matchExpressions: [{ key: 'a', operator: 'Like' }] }, {})).toThrow('"Like"');
  });
});
