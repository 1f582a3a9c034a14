/**
 * What the API server dashboards, rules and alerts of kube-prometheus and others ask for: their metrics and labels, one query for each way in
 * which these are put together.
 */
const JOB = 'job="apiserver"';

export const STOCK_QUERIES: readonly string[] = [
  // Availability and error budget.
  `sum by (code, verb) (increase(apiserver_request_total{${JOB},verb=~"LIST|GET|POST|PUT|PATCH|DELETE",code=~"2.."}[1m]))`,
  `sum by (verb, scope, le) (increase(apiserver_request_sli_duration_seconds_bucket{${JOB}}[1m]))`,
  `sum by (verb, scope) (increase(apiserver_request_sli_duration_seconds_count{${JOB}}[1m]))`,
  ...[
    ['resource|', '1'],
    ['namespace', '5'],
    ['cluster', '30'],
  ].map(
    ([scope, le]) =>
      `sum(rate(apiserver_request_sli_duration_seconds_bucket{${JOB},verb=~"LIST|GET",subresource!~"proxy|attach|log|exec|portforward",scope=~"${scope}",le=~"${le}(\\\\.0)?"}[1m]))`,
  ),
  `sum(rate(apiserver_request_sli_duration_seconds_bucket{${JOB},verb=~"POST|PUT|PATCH|DELETE",subresource!~"proxy|attach|log|exec|portforward",le=~"1(\\\\.0)?"}[1m]))`,
  `histogram_quantile(0.99, sum by (le, resource) (rate(apiserver_request_sli_duration_seconds_bucket{${JOB},verb=~"LIST|GET"}[1m]))) > 0`,
  // Panels.
  `sum by (code) (rate(apiserver_request_total{${JOB},verb=~"LIST|GET"}[1m]))`,
  `sum by (instance, verb) (rate(apiserver_request_duration_seconds_sum{${JOB}}[1m])) / sum by (instance, verb) (rate(apiserver_request_duration_seconds_count{${JOB}}[1m]))`,
  `sum by (instance, name) (rate(workqueue_adds_total{${JOB}}[1m]))`,
  `sum by (instance, name) (workqueue_depth{${JOB}})`,
  `histogram_quantile(0.99, sum by (instance, name, le) (rate(workqueue_queue_duration_seconds_bucket{${JOB}}[1m])))`,
  `process_resident_memory_bytes{${JOB}}`,
  `rate(process_cpu_seconds_total{${JOB}}[1m])`,
  // Alerts, without what they compare with.
  `up{${JOB}}`,
  `sum by (cluster) (rate(rest_client_requests_total{${JOB},code=~"2.."}[1m]))`,
  `histogram_quantile(0.01, sum by (le) (rate(apiserver_client_certificate_expiration_seconds_bucket{${JOB}}[1m])))`,
  `apiserver_client_certificate_expiration_seconds_count{${JOB}} > 0`,
  `count by (git_version) (label_replace(kubernetes_build_info{${JOB}}, "git_version", "$1", "git_version", "(v[0-9]*.[0-9]*).*"))`,
  // Other consumers.
  `sum by (resource) (apiserver_storage_objects{${JOB}})`,
  `sum by (operation) (rate(etcd_request_duration_seconds_count{${JOB}}[1m]))`,
  `apiserver_current_inflight_requests{${JOB}}`,
  `apiserver_longrunning_requests{${JOB},verb="WATCH"}`,
  `rate(apiserver_audit_event_total{${JOB}}[1m])`,
  `rate(apiserver_audit_requests_rejected_total{${JOB}}[1m])`,
  `sum by (name) (rate(apiserver_admission_controller_admission_duration_seconds_count{${JOB}}[1m]))`,
  `sum by (resource) (rate(apiserver_watch_events_total{${JOB}}[1m]))`,
  `sum by (resource) (rate(apiserver_watch_events_sizes_sum{${JOB}}[1m]))`,
  `sum by (username) (rate(authenticated_user_requests{${JOB}}[1m]))`,
  `sum by (result) (rate(authentication_attempts{${JOB}}[1m]))`,
  `sum by (result) (rate(authorization_attempts_total{${JOB}}[1m]))`,
  `sum by (result) (rate(authorization_duration_seconds_count{${JOB}}[1m]))`,
  `kubernetes_healthcheck{${JOB},type="readyz"}`,
  `sum by (status) (kubernetes_healthchecks_total{${JOB}})`,
];
