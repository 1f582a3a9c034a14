import type { FieldError } from '../errors/field-error';
import { decodeObject } from '../codec/json-decode';
import { defaultPod } from '../kinds/core/pod-defaults';
import type { KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { validatePodCreate } from './pod';

const podType = loadBuiltinSchema().kind('', 'v1', 'Pod');

/** A pod as it reaches validation: decoded, with all defaults. */
function completePod(spec: object, metadata: object = {}): KubeObject {
  if (podType === undefined) throw new Error('the schema has no Pod');
  const sent = { metadata: { name: 'p', ...metadata }, spec };
  const { object } = decodeObject(podType, sent, { applyDefaults: true, collectUnknown: false });
  return defaultPod(object);
}

/** `field: message` of every problem, in order. */
function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const container = { name: 'c', image: 'i:1' };

/** Problems of a pod with these fields beside one container; `spec.` is left out. */
function problemsOf(spec: object, metadata?: object): readonly string[] {
  return texts(validatePodCreate(completePod({ containers: [container], ...spec }, metadata))).map((text) =>
    text.replace(/^spec\./, ''),
  );
}

function problemsOfContainer(fields: object, spec: object = {}): readonly string[] {
  return problemsOf({ containers: [{ ...container, ...fields }], ...spec }).map((text) =>
    text.replace(/^containers\[0\]\./, ''),
  );
}

function problemsOfVolume(source: object): readonly string[] {
  return problemsOf({ volumes: [{ name: 'v', ...source }] }).map((text) => text.replace(/^volumes\[0\]\.?/, ''));
}

const LABEL_SYNTAX =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const ENV_SYNTAX =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";

describe('containers of a pod', () => {
  test('at least one, each with a name of its own and an image', () => {
    expect(problemsOf({ containers: [] })).toEqual(['containers: Required value']);
    expect(problemsOf({ containers: [{ image: ' i' }, { name: 'a' }, { name: 'a', image: 'i' }] })).toEqual([
      'containers[0].name: Required value',
      'containers[1].image: Required value',
      'containers[2].name: Duplicate value: "a"',
      'containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
    ]);
  });

  test('all problems come in the order of the wire', () => {
    const spec = {
      containers: [{ name: 'A', image: 'i', ports: [{ containerPort: 0, protocol: 'z' }] }],
      restartPolicy: 'x',
      dnsPolicy: 'y',
      volumes: [{ name: 'v', nfs: {} }],
      activeDeadlineSeconds: 0,
    };
    expect(problemsOf(spec)).toEqual([
      'volumes[0].nfs.server: Required value',
      'volumes[0].nfs.path: Required value',
      'volumes[0].nfs.path: Invalid value: "": must be an absolute path',
      `containers[0].name: Invalid value: "A": ${LABEL_SYNTAX}`,
      'containers[0].ports[0].containerPort: Required value',
      'containers[0].ports[0].protocol: Unsupported value: "z": supported values: "SCTP", "TCP", "UDP"',
      'restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
      'dnsPolicy: Unsupported value: "y": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      'activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'an unknown pull policy',
      { imagePullPolicy: 'never' },
      ['imagePullPolicy: Unsupported value: "never": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    [
      'a message policy',
      { terminationMessagePolicy: 'X' },
      ["terminationMessagePolicy: Invalid value: \"X\": must be 'File' or 'FallbackToLogsOnError'"],
    ],
    [
      'ports of one name',
      { ports: [{ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }, { containerPort: 70000 }] },
      [
        'ports[1].name: Duplicate value: "a"',
        'ports[2].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'one port of the node twice',
      {
        ports: [
          { containerPort: 1, hostPort: 5 },
          { containerPort: 2, hostPort: 5 },
          { containerPort: 2, hostPort: 5, protocol: 'UDP' },
        ],
      },
      ['ports[1].hostPort: Duplicate value: "TCP//5"'],
    ],
    [
      'a variable that begins with a digit',
      { env: [{ name: '1a' }] },
      [`env[0].name: Invalid value: "1a": ${ENV_SYNTAX}`],
    ],
    [
      'a variable named like a folder',
      { env: [{ name: '..' }, { name: '..a' }] },
      [
        'env[0].name: Invalid value: "..": must not be \'..\'',
        'env[1].name: Invalid value: "..a": must not start with \'..\'',
      ],
    ],
    [
      'a value and a source',
      { env: [{ name: 'a', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      ['env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ],
    [
      'a source of nothing',
      { env: [{ name: 'a', valueFrom: {} }] },
      [
        'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
    ],
    ['fields by key', { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }] }, []],
    ['addresses of the node', { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'status.hostIPs' } } }] }, []],
    [
      'fields that do not exist',
      {
        env: [
          { name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } },
          { name: 'b', valueFrom: { fieldRef: { fieldPath: "spec.x['y']" } } },
        ],
      },
      [
        'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x',
        "env[1].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x['y']\": error converting fieldPath: field label does not support subscript: spec.x['y']",
      ],
    ],
    [
      'a divisor that does not fit',
      { env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '10' } } }] },
      [
        'env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    [
      'all of nothing',
      { envFrom: [{}, { prefix: '1', secretRef: {} }] },
      [
        'envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
        `envFrom[1].prefix: Invalid value: "1": ${ENV_SYNTAX}`,
        'envFrom[1].secretRef.name: Required value',
      ],
    ],
  ])('%s', (_what, fields, expected) => {
    expect(problemsOfContainer(fields)).toEqual(expected);
  });

  test.each<[string, object, readonly string[]]>([
    ['whole devices', { limits: { 'example.com/gpu': '2' } }, []],
    [
      'half a device',
      { limits: { 'example.com/gpu': '500m' } },
      [
        'limits[example.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:5, scale:-1}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:"DecimalSI"}: must be an integer',
        'requests[example.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:5, scale:-1}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:"DecimalSI"}: must be an integer',
      ],
    ],
    [
      'a device requested and not limited',
      { requests: { 'example.com/x': '1' } },
      ['limits: Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      'a device limited otherwise',
      { limits: { 'a.b/c': '2' }, requests: { 'a.b/c': '1' } },
      ['requests: Invalid value: "1": must be equal to a.b/c limit'],
    ],
    [
      'a request above the limit',
      { limits: { cpu: '1' }, requests: { cpu: '1001m' } },
      ['requests: Invalid value: "1001m": must be less than or equal to cpu limit'],
    ],
    [
      'a name that is no resource',
      { requests: { foo: '1' } },
      [
        'requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
        'requests[foo]: Invalid value: "foo": must be a standard resource for containers',
      ],
    ],
    ['huge pages alone', { limits: { 'hugepages-2Mi': '2Mi' } }, ['Forbidden: HugePages require cpu or memory']],
    ['huge pages and memory', { limits: { 'hugepages-2Mi': '2Mi', memory: '1Gi' } }, []],
    [
      'a negative amount',
      { requests: { memory: '-1Mi' } },
      ['requests[memory]: Invalid value: "-1Mi": must be greater than or equal to 0'],
    ],
  ])('resources: %s', (_what, resources, expected) => {
    expect(problemsOfContainer({ resources }).map((text) => text.replace(/^resources[.:] ?/, ''))).toEqual(expected);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'a volume that is not there',
      { volumeMounts: [{ name: 'x', mountPath: '/x' }] },
      ['volumeMounts[0].name: Not found: "x"'],
    ],
    [
      'one place twice',
      {
        volumeMounts: [
          { name: 'e', mountPath: '/a' },
          { name: 'e', mountPath: '/a' },
        ],
      },
      ['volumeMounts[1].mountPath: Invalid value: "/a": must be unique'],
    ],
    [
      'paths out of the volume',
      { volumeMounts: [{ name: 'e', mountPath: '/a', subPath: '/b/../c', subPathExpr: 'x' }] },
      [
        'volumeMounts.subPath: Invalid value: "/b/../c": must be a relative path',
        'volumeMounts.subPath: Invalid value: "/b/../c": must not contain \'..\'',
        'volumeMounts[0].subPathExpr: Invalid value: "x": subPathExpr and subPath are mutually exclusive',
      ],
    ],
    ['a device of a claim', { volumeDevices: [{ name: 'p', devicePath: '/dev/x' }] }, []],
    [
      'a device of a folder, mounted too',
      { volumeMounts: [{ name: 'e', mountPath: '/x' }], volumeDevices: [{ name: 'e', devicePath: '/x' }] },
      [
        'volumeMounts[0].name: Invalid value: "e": must not already exist in volumeDevices',
        'volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in volumeDevices',
        'volumeDevices[0].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim for block mode',
        'volumeDevices[0].name: Invalid value: "e": must not already exist in volumeMounts',
        'volumeDevices[0].devicePath: Invalid value: "/x": must not already exist as a path in volumeMounts',
      ],
    ],
    [
      'mounts that reach other containers',
      { volumeMounts: [{ name: 'e', mountPath: '/x', mountPropagation: 'Bidirectional' }] },
      [
        'volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
      ],
    ],
  ])('mounts: %s', (_what, fields, expected) => {
    const volumes = [{ name: 'e' }, { name: 'p', persistentVolumeClaim: { claimName: 'p' } }];
    expect(problemsOfContainer(fields, { volumes })).toEqual(expected);
  });

  test.each<[string, object, readonly string[]]>([
    ['none', {}, ['livenessProbe: Required value: must specify a handler type']],
    [
      'two',
      { exec: { command: ['a'] }, tcpSocket: { port: 1 } },
      ['livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
    ],
    ['a command of nothing', { exec: {} }, ['livenessProbe.exec.command: Required value']],
    ['a remote procedure call', { grpc: { port: 1 } }, []],
    [
      'a wrong header',
      { httpGet: { port: 'http', httpHeaders: [{ name: 'a b' }] } },
      [
        "livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ],
    ],
    [
      'more than one success',
      { tcpSocket: { port: 1 }, successThreshold: 2 },
      ['livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    ],
  ])('probes: %s', (_what, livenessProbe, expected) => {
    expect(problemsOfContainer({ livenessProbe })).toEqual(expected);
  });

  test('init containers have names of their own, no probes, and may share ports', () => {
    const ports = [{ containerPort: 1, hostPort: 1 }];
    const initContainers = [
      { name: 'c', image: 'i', ports },
      { name: 'j', image: 'i', ports, lifecycle: { preStop: { exec: { command: ['x'] } } } },
      { name: 's', image: 'i', restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] } } },
    ];
    expect(problemsOf({ initContainers })).toEqual([
      'initContainers[0].name: Duplicate value: "c"',
      'initContainers[1].lifecycle: Invalid value: {"preStop":{"exec":{"command":["x"]}}}: must not be set for init containers',
    ]);
  });

  test('nothing may depend on ephemeral containers', () => {
    const ephemeralContainers = [
      { name: 'c', image: 'i' },
      { image: 'i' },
      { name: 'd', image: ' i', targetContainerName: 'x', ports: [{ containerPort: 1 }], restartPolicy: 'Always' },
      { name: 'e', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/m', subPath: 'x' }] },
    ];
    expect(problemsOf({ ephemeralContainers, volumes: [{ name: 'v', emptyDir: {} }] })).toEqual([
      'ephemeralContainers[0].name: Duplicate value: "c"',
      'ephemeralContainers[1]: Required value: ephemeralContainer requires a name',
      'ephemeralContainers[2].targetContainerName: Not found: "x"',
      'ephemeralContainers[2].image: Invalid value: " i": must not have leading or trailing whitespace',
      'ephemeralContainers[2].ports: Forbidden: cannot be set for an Ephemeral Container',
      'ephemeralContainers[2].restartPolicy: Forbidden: cannot be set for an Ephemeral Container',
      'ephemeralContainers[3].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container',
    ]);
  });
});

describe('volumes of a pod', () => {
  test('have names of their own', () => {
    expect(problemsOf({ volumes: [{ name: 'a' }, { name: 'a' }, {}] })).toEqual([
      'volumes[1].name: Duplicate value: "a"',
      'volumes[2].name: Required value',
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'two sources',
      { emptyDir: {}, hostPath: { path: '/' } },
      ['hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'a negative size',
      { emptyDir: { sizeLimit: '-1' } },
      ['emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
    ],
    [
      'a path of the node',
      { hostPath: { path: '/a/../b' } },
      ['hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'a disk',
      { gcePersistentDisk: { partition: 256 } },
      [
        'persistentDisk.pdName: Required value',
        'persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
      ],
    ],
    [
      'a secret',
      { secret: { defaultMode: 512, items: [{ path: '..x', mode: -1 }] } },
      [
        'secret.secretName: Required value',
        'secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
        'secret.items[0].key: Required value',
        'secret.items[0].path: Invalid value: "..x": must not start with \'..\'',
        'secret.items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive',
      ],
    ],
    [
      'iscsi',
      { iscsi: { targetPortal: 'x', iqn: 'iqn.x', lun: 300, chapAuthSession: true, initiatorName: 'a' } },
      [
        'iscsi.iqn: Invalid value: "iqn.x": must be valid format',
        'iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
        'iscsi.secretRef: Required value',
        'iscsi.initiatorname: Invalid value: "a": must be valid format starting with iqn, eui, or naa',
      ],
    ],
    [
      'fibre channel',
      { fc: { targetWWNs: ['a'] } },
      ['fc.lun: Required value: lun is required if targetWWNs is specified'],
    ],
    [
      'options of the system',
      { flexVolume: { driver: 'd', options: { 'a.k8s.io/x': '1', ok: '2' } } },
      ['flexVolume.options[a.k8s.io/x]: Invalid value: "a.k8s.io/x": kubernetes.io and k8s.io namespaces are reserved'],
    ],
    [
      'azure',
      { azureDisk: { diskName: 'd', diskURI: 'x', cachingMode: 'X' } },
      [
        'azureDisk.cachingMode: Unsupported value: "X": supported values: "None", "ReadOnly", "ReadWrite"',
        'azureDisk.diskURI: Unsupported value: "x": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
      ],
    ],
    [
      'a driver without a name',
      { csi: { nodePublishSecretRef: {} } },
      ['csi.driver: Required value', 'csi.nodePublishSecretRef.name: Required value'],
    ],
    [
      'a short token',
      { projected: { sources: [{ serviceAccountToken: { expirationSeconds: 5, path: 't' } }] } },
      [
        'projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
        'projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      'one file from two sources',
      {
        projected: {
          sources: [
            { secret: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
            { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.uid' } }] }, configMap: {} },
          ],
        },
      },
      [
        'projected.sources[1].configMap.name: Required value',
        'projected: Invalid value: "p": conflicting duplicate paths',
        'projected.sources[1]: Forbidden: may not specify more than 1 volume type',
      ],
    ],
    [
      'a claim of the pod',
      { ephemeral: { volumeClaimTemplate: { metadata: { name: 'x' }, spec: {} } } },
      [
        'ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set for an ephemeral volume',
        'ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
        'ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
      ],
    ],
    ['a claim without a template', { ephemeral: {} }, ['ephemeral.volumeClaimTemplate: Required value']],
  ])('%s', (_what, source, expected) => {
    expect(problemsOfVolume(source)).toEqual(expected);
  });

  test('a claim that is made for the pod is no claim to refer to', () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const volumes = [
      { name: 'e', ephemeral: { volumeClaimTemplate: { spec } } },
      { name: 'f', persistentVolumeClaim: { claimName: 'p-e' } },
    ];
    expect(problemsOf({ volumes })).toEqual([
      'volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-e": must not reference a PVC that gets created for an ephemeral volume',
    ]);
  });
});

describe('the rest of a pod', () => {
  const node = (term: object) => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
  });
  const NODE = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]';

  test.each<[string, object, readonly string[]]>([
    [
      'no name servers',
      { dnsPolicy: 'None' },
      ['dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    ],
    [
      'name servers',
      { dnsConfig: { nameservers: ['1.1.1.1', 'x', '::1', '::2'], options: [{}], searches: ['a.'] } },
      [
        'dnsConfig.nameservers: Invalid value: []string{"1.1.1.1", "x", "::1", "::2"}: must not have more than 3 nameservers',
        'dnsConfig.nameservers[1]: Invalid value: "x": must be valid IP address',
        'dnsConfig.options[0]: Required value: must not be empty',
      ],
    ],
    [
      'hosts',
      { hostAliases: [{ ip: 'x', hostnames: ['a'] }] },
      ['hostAliases.ip: Invalid value: "x": must be valid IP address'],
    ],
    [
      'two values for one comparison',
      node({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1', '2'] }] }),
      [
        `${NODE}.matchExpressions[0].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
      ],
    ],
    [
      'a node by name',
      node({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a_'] }] }),
      [
        `${NODE}.matchFields[0].values[0]: Invalid value: "a_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
      ],
    ],
    [
      'weights',
      {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: 'a' } }],
          },
        },
      },
      [
        'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100',
      ],
    ],
    [
      'a toleration of a value that exists',
      { tolerations: [{ key: 'a', operator: 'Exists', value: 'b', effect: 'X' }] },
      [
        'tolerations[0].operator: Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"b", Effect:"X", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
        'tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      'a spread said twice',
      {
        topologySpreadConstraints: [1, 2].map((maxSkew) => ({
          maxSkew,
          topologyKey: 'z',
          whenUnsatisfiable: 'ScheduleAnyway',
        })),
      },
      ['topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, ScheduleAnyway}"'],
    ],
    [
      'overhead',
      { overhead: { cpu: '-1' } },
      ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'preemption',
      { preemptionPolicy: 'X' },
      ['preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"'],
    ],
    [
      'ids',
      { securityContext: { runAsUser: -1, fsGroup: 2147483648 } },
      [
        'securityContext.fsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
        'securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      'kernel settings',
      { securityContext: { sysctls: [{ name: 'a.b' }, { name: 'a.b' }] } },
      ['securityContext.sysctls[1].name: Duplicate value: "a.b"'],
    ],
    [
      'a profile of the node',
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      ['securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
    ],
    [
      'a user of Windows',
      { securityContext: { windowsOptions: { runAsUserName: 'a*\\.. ' } } },
      [
        'securityContext.windowsOptions.runAsUserName: Invalid value: "a*\\\\.. ": runAsUserName\'s Domain doesn\'t match the NetBios nor the DNS format',
        'securityContext.windowsOptions.runAsUserName: Invalid value: "a*\\\\.. ": runAsUserName\'s User cannot contain only periods or spaces',
      ],
    ],
    [
      'ports of the node',
      { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 2 }] }] },
      ['containers[0].ports[0].containerPort: Invalid value: 1: must match `hostPort` when `hostNetwork` is true'],
    ],
    [
      'processes of the node',
      { hostPID: true, shareProcessNamespace: true },
      [
        'securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      ],
    ],
  ])('%s', (_what, spec, expected) => {
    expect(problemsOf(spec)).toEqual(expected);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'a profile of no container',
      { 'container.apparmor.security.beta.kubernetes.io/x': 'unconfined' },
      [
        'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": container not found',
      ],
    ],
    [
      'a mirror of no node',
      { 'kubernetes.io/config.mirror': 'x' },
      [
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      ],
    ],
    [
      'a profile out of its folder',
      { 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/../x' },
      ['metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "../x": must not contain \'..\''],
    ],
  ])('annotations: %s', (_what, annotations, expected) => {
    expect(problemsOf({}, { annotations })).toEqual(expected);
  });

  test('a field and an annotation cannot contradict each other', () => {
    const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
    const securityContext = { seccompProfile: { type: 'RuntimeDefault' } };
    expect(problemsOf({ securityContext }, { annotations })).toEqual([
      'securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
    ]);
  });
});
