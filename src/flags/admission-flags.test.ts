import { admissionFromFlags } from './admission-flags';

const flags = {
  admissionControl: [],
  admissionControlConfigFile: '',
  defaultNotReadyTolerationSeconds: 300,
  defaultUnreachableTolerationSeconds: 60,
  disableAdmissionPlugins: [],
  enableAdmissionPlugins: [],
};

const gates = { BoundServiceAccountTokenVolume: true };

describe('the flags about admission', () => {
  it('give the plugins and their settings', () => {
    const { admission, problems, warnings } = admissionFromFlags(
      {
        ...flags,
        enableAdmissionPlugins: ['NodeRestriction'],
      },
      { BoundServiceAccountTokenVolume: false },
    );
    expect(admission.plugins).toContain('NodeRestriction');
    expect(admission).toMatchObject({ boundTokens: false, notReadySeconds: 300, unreachableSeconds: 60 });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('take the old flag for the whole list', () => {
    const { admission } = admissionFromFlags({ ...flags, admissionControl: ['Priority', 'NamespaceLifecycle'] }, gates);
    expect(admission.plugins).toEqual(['NamespaceLifecycle', 'Priority']);
  });

  it('tell everything that is wrong', () => {
    const { problems, warnings } = admissionFromFlags(
      {
        ...flags,
        admissionControl: ['Priority'],
        enableAdmissionPlugins: ['Priority'],
        admissionControlConfigFile: '/nowhere/at/all',
      },
      gates,
    );
    expect(problems).toEqual([
      expect.stringContaining('unable to read admission control configuration from "/nowhere/at/all"'),
      'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive',
    ]);
    expect(warnings).toEqual([]);
  });
});
