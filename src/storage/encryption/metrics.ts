import { Counter, Histogram, type Registry } from 'prom-client';
import type { TransformationMetrics } from './encrypted-store';

export interface EncryptionMetrics extends TransformationMetrics {
  /** The configuration has changed, and is used or not. */
  readonly reloaded: (status: 'success' | 'failure') => void;
}

const SECONDS = Array.from({ length: 25 }, (_, power) => 0.000005 * 2 ** power);

/** Under kube-apiserver's names. */
export function transformationMetrics(registry: Registry): EncryptionMetrics {
  const operations = new Counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Values that were encrypted for the store or decrypted from it.',
    labelNames: ['transformation_type', 'transformer_prefix', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'How long it took to encrypt or decrypt a value.',
    labelNames: ['transformation_type', 'transformer_prefix'],
    buckets: SECONDS,
    registers: [registry],
  });
  const reloads = new Counter({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'Changes of the encryption configuration that were read.',
    labelNames: ['status'],
    registers: [registry],
  });
  return {
    reloaded: (status) => reloads.inc({ status }),
    transformed: (type, prefix, failed, seconds) => {
      operations.inc({
        transformation_type: type,
        transformer_prefix: prefix,
        status: failed ? 'unknown-non-grpc' : 'OK',
      });
      durations.observe({ transformation_type: type, transformer_prefix: prefix }, seconds);
    },
  };
}
