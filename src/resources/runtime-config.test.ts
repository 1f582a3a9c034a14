import { GROUPS } from '../api/kinds/groups';
import { flowControlConflict, isServedByDefault, parseRuntimeConfig } from './runtime-config';

/** Of these resources, the ones that are served. */
const RESOURCES = [
  ['batch', 'v1', 'jobs'],
  ['batch', 'v1beta1', 'cronjobs'],
  ['batch', 'v2alpha1', 'cronjobs'],
  ['extensions', 'v1beta1', 'ingresses'],
  ['discovery.k8s.io', 'v1alpha1', 'endpointslices'],
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
  const WITH_ALPHA = ['v1 jobs', 'v1beta1 cronjobs', 'v2alpha1 cronjobs', 'v1beta1 ingresses', 'v1 pods'];

  it.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{}, ALL],
    [{ 'api/all': 'true' }, WITH_ALPHA],
    [{ 'api/alpha': 'true' }, WITH_ALPHA],
    [{ 'batch/v2alpha1': 'true' }, WITH_ALPHA],
    [{ 'batch/v2alpha1': '' }, WITH_ALPHA],
    [{ 'scheduling.k8s.io/v1alpha1': 'true' }, ALL],
    [{ 'api/all': 'true', 'api/alpha': 'false' }, ALL],
    [{ 'api/all': 'true', 'batch/v2alpha1': 'false' }, ALL],
    [{ 'api/all': 'false', 'batch/v2alpha1': 'true' }, ['v2alpha1 cronjobs']],
    [{ 'batch/v1beta1': 'false' }, ['v1 jobs', 'v1beta1 ingresses', 'v1 pods']],
    [{ 'api/beta': 'false' }, ['v1 jobs', 'v1 pods']],
    [{ 'api/ga': 'false' }, ['v1beta1 cronjobs', 'v1beta1 ingresses']],
    [{ 'api/all': 'false', 'api/ga': 'true' }, ['v1 jobs', 'v1 pods']],
    [{ 'batch/v1beta1': 'true', 'api/beta': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1 pods']],
    [{ '/v1': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1beta1 ingresses']],
    [{ 'batch/v1': '' }, ALL],
    [{ 'extensions/v1beta1/ingresses': 'false' }, ['v1 jobs', 'v1beta1 cronjobs', 'v1 pods']],
    [{ 'api/beta': 'false', 'extensions/v1beta1/ingresses': 'T' }, ['v1 jobs', 'v1beta1 ingresses', 'v1 pods']],
    // Among the alpha versions that kube-apiserver lists, this one is missing.
    [
      { 'discovery.k8s.io/v1alpha1': 'true', 'api/alpha': 'false' },
      ['v1 jobs', 'v1beta1 cronjobs', 'v1beta1 ingresses', 'v1alpha1 endpointslices', 'v1 pods'],
    ],
    // Known by name, and nothing is served in them.
    [{ 'apps/v1beta1': 'true', 'admission.k8s.io/v1': 'true' }, ALL],
  ])('%j serves %j', (given, served) => {
    expect(servedWith(given)).toEqual(served);
  });

  it.each<[Readonly<Record<string, string>>, boolean]>([
    [{}, false],
    [{ 'admissionregistration.k8s.io/v1beta1': 'true' }, true],
    [{ 'admissionregistration.k8s.io/v1': 'true' }, false],
    [{ 'api/beta': 'true' }, true],
    [{ 'api/all': 'true' }, true],
    [{ 'api/beta': 'true', 'admissionregistration.k8s.io/v1beta1': 'false' }, false],
  ])('%j serves policies of v1beta1: %s', (given, expected) => {
    const { isServed } = parseRuntimeConfig(given, GROUPS);
    for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
      expect(isServed('admissionregistration.k8s.io', 'v1beta1', resource)).toBe(expected);
      expect(isServed('admissionregistration.k8s.io', 'v1', resource)).toBe(true);
    }
    const webhooks = isServed('admissionregistration.k8s.io', 'v1beta1', 'validatingwebhookconfigurations');
    expect(webhooks).toBe(given['admissionregistration.k8s.io/v1beta1'] !== 'false');
  });

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'nonsense/v1': 'true' }, 'unknown api groups nonsense'],
    [{ 'a/v1': 'true', 'b/v1/x': 'true', 'a/v2': 'true' }, 'unknown api groups a,b,a'],
    [
      { 'batch/v1beta1': 'maybe' },
      'invalid value of batch/v1beta1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      { 'batch/v2alpha1': 'yes' },
      'invalid value of batch/v2alpha1: yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
    ],
    [{ 'api/beta': 'maybe' }, 'invalid value api/beta=maybe'],
    [{ 'api/alpha': '1' }, 'invalid value api/alpha=1'],
    [{ 'batch/v3': 'true' }, 'group version batch/v3 that has not been registered'],
    [{ '/v2': 'true' }, 'group version v2 that has not been registered'],
    [{ v1: 'false' }, 'runtime-config invalid key v1'],
    [{ '': 'true' }, 'runtime-config invalid key '],
    [{ 'a/b/c/d': 'false' }, 'runtime-config invalid key a/b/c/d'],
    [{ 'api/all': 'false' }, 'invalid key with only api/all=false'],
    // The first problem hides the others.
    [{ 'api/beta': 'maybe', 'a/b/c/d': 'false', 'nonsense/v1': 'true' }, 'runtime-config invalid key a/b/c/d'],
    [{ 'batch/v3': 'true', 'api/beta': 'maybe' }, 'invalid value api/beta=maybe'],
  ])('%j is refused: %s', (given, problem) => {
    expect(parseRuntimeConfig(given, GROUPS).problems).toEqual([problem]);
  });

  it('takes with a warning a resource of a version that is switched as a whole', () => {
    const { isServed, problems, warnings } = parseRuntimeConfig(
      { 'batch/v1/jobs': 'false', 'batch/v2alpha1/cronjobs': 'true' },
      GROUPS,
    );
    expect(problems).toEqual([]);
    const notSupported = 'individual resource enablement/disablement is not supported in';
    expect(warnings).toEqual([
      `ignoring invalid key batch/v1/jobs, ${notSupported} batch/v1, and will prevent starting in future releases`,
      `ignoring invalid key batch/v2alpha1/cronjobs, ${notSupported} batch/v2alpha1, and will prevent starting in future releases`,
    ]);
    expect(isServed('batch', 'v1', 'jobs')).toBe(true);
    expect(isServed('batch', 'v2alpha1', 'cronjobs')).toBe(false);
  });

  it('serves alpha versions of no group unless told to', () => {
    const served = GROUPS.flatMap(({ name, versions }) =>
      versions.filter(({ version }) => isServedByDefault(name, version, 'any')).map(({ version }) => version),
    );
    expect(served.filter((version) => version.includes('alpha'))).toEqual([]);
    expect(served).toContain('v2beta1');
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
