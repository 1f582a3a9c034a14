import { Findings, type Finding } from './findings';
import type { Policy } from './policy';

const finding = (message: string, ...actions: readonly string[]): Finding => ({
  message,
  reason: '',
  index: 0,
  policy: { name: 'p' } as Policy,
  binding: { name: 'b', actions: new Set(actions) },
});

it('refuses with the first finding that is to refuse', () => {
  const findings = new Findings();
  for (const one of [finding('1', 'Warn'), finding('2', 'Deny'), finding('3', 'Deny')]) findings.add(one);
  expect(findings.denial?.message).toBe('2');
  expect(findings.all.map(({ message }) => message)).toEqual(['1', '2', '3']);
});

it('refuses with a binding that cannot be followed, whatever it says is to be done', () => {
  const findings = new Findings();
  findings.add({ ...finding('broken', 'Audit'), isBroken: true });
  expect(findings.denial?.message).toBe('broken');
});

it('holds a quarter of a megabyte of what thousands of parameters find, and still refuses for the last of them', () => {
  const findings = new Findings();
  for (let index = 0; index < 10_000; index++) findings.add(finding('x'.repeat(1000), 'Audit'));
  findings.add(finding('forbidden', 'Deny'));
  expect(findings.all.length).toBeLessThan(256);
  expect(findings.denial?.message).toBe('forbidden');
});

it('tells each value of an annotation once, and ends where they become long', () => {
  const findings = new Findings();
  for (let index = 0; index < 1000; index++) findings.annotate('p/k', `${index % 2}`.repeat(10_000));
  expect([...findings.annotations.get('p/k')!].map((value) => value[0])).toEqual(['0', '1']);
  for (let index = 0; index < 1000; index++) findings.annotate('p/long', `${index} ${'x'.repeat(10_000)}`);
  expect(findings.annotations.get('p/long')!.size).toBeLessThan(26);
});
