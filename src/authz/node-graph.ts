import type { KubeObject } from '../api/object';

/** What a node's pods lead to. `claim` and `volume` are PersistentVolumeClaims and PersistentVolumes. */
export type ReferencedKind = 'secret' | 'configmap' | 'claim' | 'volume' | 'attachment' | 'account';

interface PodRecord {
  readonly node: string;
  readonly references: readonly string[];
}

interface VolumeRecord {
  readonly claim: string;
  readonly secrets: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

function keyOf(kind: ReferencedKind, namespace: string, name: string): string {
  return `${kind}:${namespace}/${name}`;
}

/**
 * Which nodes have a pod that refers to an object, kept as an index from the object to its nodes: a question costs a
 * look-up or two, however many pods there are. Volumes are reached through the claim that they are bound to.
 */
export class NodeGraph {
  readonly #pods = new Map<string, PodRecord>();
  readonly #volumes = new Map<string, VolumeRecord>();
  readonly #attachments = new Map<string, string>();
  /** For each object how many pods of each node refer to it. */
  readonly #nodes = new Map<string, Map<string, number>>();
  /** The volumes that name a secret. */
  readonly #volumesOfSecret = new Map<string, Set<string>>();

  putPod(pod: KubeObject): void {
    const key = `${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`;
    const spec = (pod.spec ?? {}) as Json;
    const node = textAt(spec, 'nodeName');
    // A mirror pod was written by the node itself: what it refers to proves nothing.
    const bound = node !== '' && pod.metadata.annotations?.[MIRROR_ANNOTATION] === undefined;
    const next = bound ? { node, references: referencesOf(pod, spec) } : undefined;
    const known = this.#pods.get(key);
    if (next !== undefined) {
      for (const reference of next.references) this.#count(reference, next.node, 1);
      this.#pods.set(key, next);
    } else this.#pods.delete(key);
    if (known !== undefined) for (const reference of known.references) this.#count(reference, known.node, -1);
  }

  deletePod({ metadata: { namespace = '', name = '' } }: KubeObject): void {
    const known = this.#pods.get(`${namespace}/${name}`);
    this.#pods.delete(`${namespace}/${name}`);
    if (known !== undefined) for (const reference of known.references) this.#count(reference, known.node, -1);
  }

  putVolume(volume: KubeObject): void {
    this.deleteVolume(volume);
    const name = volume.metadata.name ?? '';
    const claim = mapAt((volume.spec ?? {}) as Json, 'claimRef');
    if (claim === undefined) return;
    const namespace = textAt(claim, 'namespace');
    const secrets = secretsOfVolume((volume.spec ?? {}) as Json, namespace);
    this.#volumes.set(name, { claim: keyOf('claim', namespace, textAt(claim, 'name')), secrets });
    for (const secret of secrets) {
      const volumes = this.#volumesOfSecret.get(secret) ?? new Set();
      this.#volumesOfSecret.set(secret, volumes.add(name));
    }
  }

  deleteVolume({ metadata: { name = '' } }: KubeObject): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    this.#volumes.delete(name);
  }

  putAttachment(attachment: KubeObject): void {
    this.#attachments.set(attachment.metadata.name ?? '', textAt((attachment.spec ?? {}) as Json, 'nodeName'));
  }

  deleteAttachment({ metadata: { name = '' } }: KubeObject): void {
    this.#attachments.delete(name);
  }

  /** Whether something on the node leads to the object. `namespace` is empty for cluster-scoped kinds. */
  leadsTo(node: string, kind: ReferencedKind, namespace: string, name: string): boolean {
    if (kind === 'attachment') return this.#attachments.get(name) === node;
    if (kind === 'volume') return this.#leadsToVolume(node, name);
    const key = keyOf(kind, namespace, name);
    if (this.#nodes.get(key)?.has(node) === true) return true;
    if (kind !== 'secret') return false;
    return [...(this.#volumesOfSecret.get(key) ?? [])].some((volume) => this.#leadsToVolume(node, volume));
  }

  #leadsToVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name);
    return volume !== undefined && this.#nodes.get(volume.claim)?.has(node) === true;
  }

  #count(reference: string, node: string, change: number): void {
    const nodes = this.#nodes.get(reference) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + change;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#nodes.set(reference, nodes);
    else this.#nodes.delete(reference);
  }
}

function mapAt(map: Json | undefined, name: string): Json | undefined {
  const value = map?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function listAt(map: Json | undefined, name: string): readonly Json[] {
  const value = map?.[name];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textAt(map: Json | undefined, name: string): string {
  const value = map?.[name];
  return typeof value === 'string' ? value : '';
}

/** Everything in its namespace that a pod names, each once. */
function referencesOf(pod: KubeObject, spec: Json): readonly string[] {
  const { namespace = '', name: podName = '' } = pod.metadata;
  const found = new Set<string>();
  const add = (kind: ReferencedKind, name: string): void => {
    if (name !== '') found.add(keyOf(kind, namespace, name));
  };
  add('account', textAt(spec, 'serviceAccountName'));
  for (const secret of listAt(spec, 'imagePullSecrets')) add('secret', textAt(secret, 'name'));
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listAt(spec, list)) {
      for (const source of listAt(container, 'envFrom')) {
        add('secret', textAt(mapAt(source, 'secretRef'), 'name'));
        add('configmap', textAt(mapAt(source, 'configMapRef'), 'name'));
      }
      for (const variable of listAt(container, 'env')) {
        const from = mapAt(variable, 'valueFrom');
        add('secret', textAt(mapAt(from, 'secretKeyRef'), 'name'));
        add('configmap', textAt(mapAt(from, 'configMapKeyRef'), 'name'));
      }
    }
  }
  for (const volume of listAt(spec, 'volumes')) {
    add('claim', textAt(mapAt(volume, 'persistentVolumeClaim'), 'claimName'));
    if (mapAt(volume, 'ephemeral') !== undefined) add('claim', `${podName}-${textAt(volume, 'name')}`);
    add('secret', textAt(mapAt(volume, 'secret'), 'secretName'));
    add('configmap', textAt(mapAt(volume, 'configMap'), 'name'));
    for (const source of listAt(mapAt(volume, 'projected'), 'sources')) {
      add('secret', textAt(mapAt(source, 'secret'), 'name'));
      add('configmap', textAt(mapAt(source, 'configMap'), 'name'));
    }
    add('secret', textAt(mapAt(volume, 'azureFile'), 'secretName'));
    add('secret', textAt(mapAt(mapAt(volume, 'csi'), 'nodePublishSecretRef'), 'name'));
    for (const kind of ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos']) {
      add('secret', textAt(mapAt(mapAt(volume, kind), 'secretRef'), 'name'));
    }
  }
  return [...found];
}

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'nodePublishSecretRef',
  'nodeStageSecretRef',
  'controllerExpandSecretRef',
  'nodeExpandSecretRef',
];

/** The secrets that a volume's driver needs on the node; in the claim's namespace unless they say otherwise. */
function secretsOfVolume(spec: Json, claimNamespace: string): readonly string[] {
  const references = [
    ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((kind) =>
      mapAt(mapAt(spec, kind), 'secretRef'),
    ),
    ...CSI_SECRETS.map((name) => mapAt(mapAt(spec, 'csi'), name)),
  ];
  const azure = mapAt(spec, 'azureFile');
  return [
    ...references.map((reference) => [textAt(reference, 'namespace'), textAt(reference, 'name')] as const),
    [textAt(azure, 'secretNamespace'), textAt(azure, 'secretName')] as const,
  ].flatMap(([namespace, name]) => (name === '' ? [] : [keyOf('secret', namespace || claimNamespace, name)]));
}
