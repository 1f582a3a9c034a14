import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration';
import { validatingAdmissionPolicy } from './admissionregistration/validating-admission-policy';
import { validatingAdmissionPolicyBinding } from './admissionregistration/validating-admission-policy-binding';
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration';
import { customResourceDefinition } from './apiextensions/custom-resource-definition';
import { storageVersion } from './apiserverinternal/storage-version';
import { apiService } from './apiregistration/api-service';
import { controllerRevision } from './apps/controller-revision';
import { daemonSet } from './apps/daemon-set';
import { deployment } from './apps/deployment';
import { replicaSet } from './apps/replica-set';
import { statefulSet } from './apps/stateful-set';
import { selfSubjectReview } from './authentication/self-subject-review';
import { tokenReview } from './authentication/token-review';
import { localSubjectAccessReview } from './authorization/local-subject-access-review';
import { selfSubjectAccessReview } from './authorization/self-subject-access-review';
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review';
import { subjectAccessReview } from './authorization/subject-access-review';
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler';
import { cronJob } from './batch/cron-job';
import { job } from './batch/job';
import { certificateSigningRequest } from './certificates/certificate-signing-request';
import { lease } from './coordination/lease';
import { binding } from './core/binding';
import { componentStatus } from './core/component-status';
import { configMap } from './core/config-map';
import { endpoints } from './core/endpoints';
import { limitRange } from './core/limit-range';
import { namespace } from './core/namespace';
import { node } from './core/node';
import { persistentVolume } from './core/persistent-volume';
import { persistentVolumeClaim } from './core/persistent-volume-claim';
import { pod } from './core/pod';
import { podTemplate } from './core/pod-template';
import { replicationController } from './core/replication-controller';
import { resourceQuota } from './core/resource-quota';
import { secret } from './core/secret';
import { service } from './core/service';
import { serviceAccount } from './core/service-account';
import { endpointSlice } from './discovery/endpoint-slice';
import { event } from './events/event';
import { flowSchema } from './flowcontrol/flow-schema';
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration';
import { ingress } from './networking/ingress';
import { ingressClass } from './networking/ingress-class';
import { networkPolicy } from './networking/network-policy';
import { runtimeClass } from './node/runtime-class';
import { podDisruptionBudget } from './policy/pod-disruption-budget';
import { podSecurityPolicy } from './policy/pod-security-policy';
import { clusterRole } from './rbac/cluster-role';
import { clusterRoleBinding } from './rbac/cluster-role-binding';
import { role } from './rbac/role';
import { roleBinding } from './rbac/role-binding';
import { priorityClass } from './scheduling/priority-class';
import { csiDriver } from './storage/csi-driver';
import { csiNode } from './storage/csi-node';
import { csiStorageCapacity } from './storage/csi-storage-capacity';
import { storageClass } from './storage/storage-class';
import { volumeAttachment } from './storage/volume-attachment';
import type { KindDefinition } from './kind-definition';

/** Every built-in kind. A new one is a file of its own and a line here. */
export const CATALOGUE: readonly KindDefinition[] = [
  binding,
  componentStatus,
  configMap,
  endpoints,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  event,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  cronJob,
  job,
  horizontalPodAutoscaler,
  podDisruptionBudget,
  podSecurityPolicy,
  ingress,
  ingressClass,
  networkPolicy,
  endpointSlice,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  priorityClass,
  lease,
  runtimeClass,
  certificateSigningRequest,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  customResourceDefinition,
  apiService,
  flowSchema,
  priorityLevelConfiguration,
  storageVersion,
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
];
