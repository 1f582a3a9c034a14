import { intOrPercentValue, validateAtMostAll, validateIntOrPercent, validateNonNegative } from './numbers';

describe('numbers and percentages', () => {
  test.each([
    ['a number', 3, 3],
    ['a percentage', '25%', 25],
    ['a text without a percent sign', '7', 7],
    ['a text that is no number', 'abc', 0],
    ['nothing', undefined, 0],
  ])('%s has a value', (_case, value, expected) => {
    expect(intOrPercentValue(value)).toBe(expected);
  });

  test.each(['abc', '', ' 5%', '-10%', '5', '5.5%'])('%j is no percentage', (value) => {
    expect(validateIntOrPercent(value, 'f')).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'f',
        message: `Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
      },
    ]);
  });

  test.each(['0%', '25%', '1000%', 0, 3, undefined])('%j is a number or a percentage', (value) => {
    expect(validateIntOrPercent(value, 'f')).toEqual([]);
  });

  test('numbers below zero are refused', () => {
    const problem = {
      reason: 'FieldValueInvalid',
      field: 'f',
      message: 'Invalid value: -1: must be greater than or equal to 0',
    };
    expect(validateIntOrPercent(-1, 'f')).toEqual([problem]);
    expect(validateNonNegative(-1, 'f')).toEqual([problem]);
    expect(validateNonNegative(undefined, 'f')).toEqual([]);
  });

  test('a percentage of everything is the most', () => {
    expect(validateAtMostAll('100%', 'f')).toEqual([]);
    expect(validateAtMostAll(200, 'f')).toEqual([]);
    expect(validateAtMostAll('101%', 'f')).toHaveLength(1);
  });
});
