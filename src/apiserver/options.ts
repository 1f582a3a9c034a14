import type { Registry } from 'prom-client';
import type { Extension } from '../http/application/extension';
import type { HealthAddress } from '../http/routes/health-listener';
import type { Http2Options } from '../http/server';
import type { KubeletOptions } from '../kubelet/kubelet-options';
import type { AccessOptions } from './access';
import type { AdmissionStartOptions } from './admission';
import type { AggregationOptions } from './aggregation';
import type { BackendsOptions } from './backends';
import type { ServingCertificates } from './certificates';
import type { InstrumentOptions } from './instruments';
import type { StorageOptions } from './storage';
import type { TlsMaterial } from './tls-material';

/** What an API server is made of, decided before anything starts. What a part needs stands with that part. */
export interface ApiServerOptions
  extends StorageOptions, InstrumentOptions, AccessOptions, BackendsOptions, AggregationOptions, AdmissionStartOptions {
  readonly certificates: ServingCertificates;
  /** The same certificates as the listener has them; closed with the server. */
  readonly tls: TlsMaterial;
  /** Undefined: HTTP/1.1 only. */
  readonly http2: Http2Options | undefined;
  /** Absent: as with kube-apiserver's default flags. */
  readonly kubelets?: KubeletOptions;
  readonly advertiseAddress: string;
  readonly minRequestTimeoutSeconds: number;
  /** Where probes find the health checks over plain HTTP; absent: nowhere. */
  readonly healthAddress?: HealthAddress | undefined;
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  /** Every request is logged, however little else is. */
  readonly logRequests: boolean;
  /** `-v`: how much is logged until it is changed. Absent: 0. */
  readonly verbosity?: number;
  /** /debug/pprof and /debug/flags are served. Absent: no. */
  readonly profiling?: boolean;
  /** Throws when what is logged cannot be written. */
  readonly checkLog: () => void;
  /** Routes of others outside the resource tree. Absent: none. */
  readonly extensions?: readonly Extension[];
  /** Prints the metrics of all processes of this replica, given this one's. Absent: this one's are all. */
  readonly shareMetrics?: (own: Registry) => () => Promise<string>;
}
