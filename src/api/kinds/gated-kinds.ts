import type { FeatureGate, FeatureGates } from './feature-gates';
import { withoutGatedFields } from './gated-fields';
import { horizontalPodAutoscaler, scaleToZeroStrategy } from './autoscaling/horizontal-pod-autoscaler';
import { withGatedRules } from './gated-rules';
import { namespace } from './core/namespace';
import { labelledNamespace } from './core/namespace-label';
import { withoutApparmorProfiles } from './core/apparmor';
import { node, singleStackNodeStrategy } from './core/node';
import { persistentVolumeClaim } from './core/persistent-volume-claim';
import { fixedClaimStatusStrategy, fixedClaimStrategy } from './core/persistent-volume-claim-strategy';
import { pod } from './core/pod';
import { service } from './core/service';
import { singleStackServiceStrategy } from './core/service-strategy';
import type { KindDefinition } from './kind-definition';
import { statusSubresource, withoutSubresource } from './subresources';

/** What hangs on a gate and is more than a field. */
function withoutGatedParts(kind: KindDefinition, gates: FeatureGates): KindDefinition {
  if (kind === namespace && gates.NamespaceDefaultLabelName) return labelledNamespace(namespace);
  if (kind === service && !gates.IPv6DualStack) return { ...kind, strategy: singleStackServiceStrategy };
  if (kind === node && !gates.IPv6DualStack) return { ...kind, strategy: singleStackNodeStrategy };
  if (kind === horizontalPodAutoscaler && gates.HPAScaleToZero) return { ...kind, strategy: scaleToZeroStrategy };
  if (kind === persistentVolumeClaim && !gates.ExpandPersistentVolumes) {
    return {
      ...kind,
      strategy: fixedClaimStrategy,
      subresources: [statusSubresource(fixedClaimStatusStrategy)],
    };
  }
  if (kind === pod && !gates.EphemeralContainers) return withoutSubresource(kind, 'ephemeralcontainers');
  return kind;
}

/** The kinds as the gates leave them. */
export function gatedKinds(kinds: readonly KindDefinition[], gates: FeatureGates): readonly KindDefinition[] {
  const isOn = (gate: FeatureGate): boolean => gates[gate];
  return kinds
    .map((kind) => withoutGatedFields(withoutGatedParts(kind, gates), isOn))
    .map((kind) => (gates.AppArmor ? kind : withoutApparmorProfiles(kind)))
    .map((kind) => withGatedRules(kind, isOn));
}
