import { GROUPS } from '../api/kinds/groups';
import { flowControlConflict, parseRuntimeConfig } from './runtime-config';

/** Of these resources, the ones that are served. */
const RESOURCES = [
  ['batch', 'v1', 'jobs'],
  ['batch', 'v1beta1', 'cronjobs'],
  ['extensions', 'v1beta1', 'ingresses'],
  ['', 'v1', 'pods'],
] as const;

function servedWith(given: Readonly<Record<string, string>>): readonly string[] {
  const { isServed, problems } = parseRuntimeConfig(given, GROUPS);
  expect(problems).toEqual([]);
  return RESOURCES.filter(([group, version, resource]) => isServed(group, version, resource)).map(
    ([, version, resource]) => `${version} ${resource}`,
  );
}

describe('--runtime-config', () => {
  const ALL = ['v1 jobs', 'v1beta1 cronjobs', 'v1beta1 ingresses', 'v1 pods'];

  it.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{}, ALL],
    [{ 'api/all': 'true' }, ALL],
    [{ 'batch/v1beta1': 'false' }, ['v1 jobs', 'v1beta1 ingresses', 'v1 pods']],
    [{ 'api/beta': 'false' }, ['v1 jobs', 'v1 pods']],
    [{ 'api/ga': 'false' }, ['v1beta1 cronjobs', 'v1beta1 ingresses']],
    [{ 'api/all': 'false', 'api/ga': 'true' }, ['v1 jobs', 'v1 pods']],
    [{ 'batch/v1beta1': 'true', 'api/beta': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1 pods']],
    [{ '/v1': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1beta1 ingresses']],
    [{ 'batch/v1': '' }, ALL],
    [{ 'extensions/v1beta1/ingresses': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1 pods']],
    [{ 'api/beta': 'false', 'extensions/v1beta1/ingresses': 'T' }, ['v1 jobs', 'v1beta1 ingresses', 'v1 pods']],
  ])('%j serves %j', (given, served) => {
    expect(servedWith(given)).toEqual(served);
  });

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'nonsense/v1': 'true' }, 'unknown api groups nonsense'],
    [{ 'a/v1': 'true', 'b/v1/x': 'true' }, 'unknown api groups a,b'],
    [
      { 'batch/v1beta1': 'maybe' },
      'invalid value of batch/v1beta1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [{ 'api/beta': 'maybe' }, 'invalid value api/beta=maybe'],
    [{ 'batch/v3': 'true' }, 'group version batch/v3 that has not been registered'],
    [{ v1: 'false' }, 'runtime-config invalid key v1'],
    [{ 'a/b/c/d': 'false' }, 'runtime-config invalid key a/b/c/d'],
    [{ 'api/all': 'false' }, 'invalid key with only api/all=false'],
  ])('%j is refused: %s', (given, problem) => {
    expect(parseRuntimeConfig(given, GROUPS).problems).toEqual([problem]);
  });

  it('takes with a warning what has no effect here', () => {
    const { problems, warnings } = parseRuntimeConfig(
      { 'batch/v1/jobs': 'false', 'rbac.authorization.k8s.io/v1alpha1': 'true', 'api/alpha': 'true' },
      GROUPS,
    );
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'ignoring invalid key batch/v1/jobs, individual resource enablement/disablement is not supported in batch/v1',
      'runtime-config rbac.authorization.k8s.io/v1alpha1: rbac.authorization.k8s.io/v1alpha1 is not served',
      'runtime-config api/alpha: no alpha version is served',
    ]);
  });

  it.each<[Readonly<Record<string, string>>, boolean, number]>([
    [{}, true, 0],
    [{ 'api/beta': 'false' }, true, 1],
    [{ 'api/beta': 'false' }, false, 0],
    [{ 'api/beta': 'false', 'flowcontrol.apiserver.k8s.io/v1beta1': 'true' }, true, 0],
    [{ 'api/all': 'false', 'api/beta': 'true' }, true, 0],
  ])('%j with priority and fairness %s contradicts itself %d times', (given, enabled, conflicts) => {
    expect(flowControlConflict(given, enabled)).toHaveLength(conflicts);
  });
});
