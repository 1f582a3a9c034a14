import { parseTracingConfiguration, tracingProblems } from './tracing-flags';

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n';

describe('a TracingConfiguration', () => {
  it('says where spans go and how many requests are sampled', () => {
    expect(parseTracingConfiguration(`${HEAD}endpoint: "[::1]:4317"\nsamplingRatePerMillion: 10000\n`)).toEqual({
      endpoint: '[::1]:4317',
      samplingRatePerMillion: 10_000,
    });
    expect(parseTracingConfiguration(HEAD)).toEqual({ endpoint: 'localhost:4317', samplingRatePerMillion: 0 });
  });

  it.each([
    ['kind: TracingConfiguration\n', 'it is no TracingConfiguration of'],
    ['', 'it is no TracingConfiguration'],
    [`${HEAD}endpont: a:1\n`, 'unknown field "endpont"'],
    [`${HEAD}endpoint: http://a:1/\n`, 'must be host:port'],
    [`${HEAD}samplingRatePerMillion: 1000001\n`, 'sampling rate must be less than or equal to one million'],
    [`${HEAD}samplingRatePerMillion: 1%\n`, 'sampling rate'],
  ])('is refused when it is %j', (text, problem) => {
    expect(() => parseTracingConfiguration(text)).toThrow(problem);
  });

  it('has to be there', () => {
    expect(tracingProblems({ tracingConfigFile: '/nowhere/tracing.yaml' })).toEqual([
      expect.stringMatching(/^--tracing-config-file \/nowhere\/tracing.yaml: ENOENT/),
    ]);
    expect(tracingProblems({ tracingConfigFile: '' })).toEqual([]);
  });
});
