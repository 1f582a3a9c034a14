import { networkPolicy } from './networking/network-policy';
import { DEFAULT_GATES, parseFeatureGates } from './feature-gates';
import { gatedKinds } from './gated-kinds';

describe('--feature-gates', () => {
  it('is as release 1.21 has it by default, and newer where its alpha fields are stable today', () => {
    expect(parseFeatureGates([])).toEqual({ gates: DEFAULT_GATES, problems: [], warnings: [] });
    expect(DEFAULT_GATES).toMatchObject({
      AppArmor: true,
      BoundServiceAccountTokenVolume: true,
      DownwardAPIHugePages: false,
      ExpandPersistentVolumes: true,
      HPAScaleToZero: false,
      HugePageStorageMediumSize: true,
      MixedProtocolLBService: false,
      NetworkPolicyEndPort: false,
      NonPreemptingPriority: true,
      PodDeletionCost: false,
      ProcMountType: false,
      ServerSideApply: true,
      SuspendJob: true,
    });
  });

  it('turns gates on and off', () => {
    const { gates } = parseFeatureGates(['NetworkPolicyEndPort=true', 'NonPreemptingPriority=False']);
    expect(gates).toEqual({ ...DEFAULT_GATES, NetworkPolicyEndPort: true, NonPreemptingPriority: false });
  });

  it('turns a whole stage on or off, but for the gates that it names', () => {
    const { gates } = parseFeatureGates(['AllAlpha=false', 'IndexedJob=true', 'AllBeta=0']);
    expect(gates).toMatchObject({
      IndexedJob: true,
      SuspendJob: false,
      ServerSideApply: false,
      TTLAfterFinished: false,
    });
  });

  it('says when a gate makes no difference', () => {
    expect(parseFeatureGates(['WinDSR=true', 'EndpointSlice=true']).warnings).toEqual([
      'feature gate WinDSR is accepted but has no effect',
      'feature gate EndpointSlice is generally available; setting it has no effect',
    ]);
  });

  it.each([
    ['NoSuchGate=true', 'unrecognized feature gate: NoSuchGate'],
    ['ServiceNodeExclusion=false,HugePages=false', 'unrecognized feature gate: HugePages'],
    ['DryRun', 'missing bool value for DryRun'],
    ['DryRun=false', 'cannot set feature gate DryRun to false, feature is locked to true'],
    [
      'LegacyNodeRoleBehavior=true',
      'cannot set feature gate LegacyNodeRoleBehavior to true, feature is locked to false',
    ],
    ['IndexedJob=maybe', 'invalid value of IndexedJob=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ])('refuses %s', (argument, problem) => {
    expect(parseFeatureGates(argument.split(',')).problems).toEqual([
      `invalid argument ${JSON.stringify(argument)} for "--feature-gates" flag: ${problem}`,
    ]);
  });

  it('decides what kinds keep', () => {
    expect(gatedKinds([networkPolicy], { ...DEFAULT_GATES, NetworkPolicyEndPort: true })).toEqual([networkPolicy]);
    expect(gatedKinds([networkPolicy], DEFAULT_GATES)).not.toEqual([networkPolicy]);
  });
});
