import { Counter, Histogram, type Registry } from 'prom-client';
import type { TransformationMetrics } from './encrypted-store';

const SECONDS = Array.from({ length: 25 }, (_, power) => 0.000005 * 2 ** power);

/** Under kube-apiserver's names. */
export function transformationMetrics(registry: Registry): TransformationMetrics {
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
  return {
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
